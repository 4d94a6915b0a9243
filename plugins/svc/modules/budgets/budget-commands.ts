import type { CliCommand } from '#plugin-api';
import { toDollars } from '../../kit/dollars.ts';
import { budgetStatus } from './guard/budget-status.ts';
import type { HostPort } from '../../ports.ts';
import type { Budget } from './budget.ts';
import { formatAmount, readScopeNames, scopeLabel } from './budget-labels.ts';
import type { BudgetPorts } from './module.ts';

/** `svc budget list|set|delete|status`. */
export function budgetCommands(ports: BudgetPorts): CliCommand[] {
  const { host, budgets } = ports;
  return [
    {
      name: 'svc budget list',
      description: 'List the budgets.',
      run: () => budgets.list(),
    },
    {
      name: 'svc budget set',
      description:
        'Add a budget, or replace the one with the same id. Defaults: all calls, dollars, month, stop, an alert at 80 percent.',
      args: [
        {
          name: 'json',
          description:
            '{"id": "monthly", "name": "Monthly", "scope": "all|rest|module|bot|key|user|role|plugin", "module", "bot_id", ' +
            '"key_id", "user_id", "role", "plugin", "unit": "dollars|tokens|calls", "period": "day|month", "amount": 10, ' +
            '"at_limit": "stop|fallback", "fallback_provider", "fallback_model", "alert_percent": 80, "unpriced": "refuse|free", ' +
            '"enabled": true}',
        },
      ],
      run: async ({ args: [json = ''] }) => {
        const values = parseBudget(json);
        requireRole(values, host);
        return budgets.save(values);
      },
    },
    {
      name: 'svc budget delete',
      description: 'Delete a budget. The usage ledger keeps its calls.',
      args: [{ name: 'id', description: 'Id of the budget.' }],
      run: async ({ args: [id = ''] }) => {
        if (!(await budgets.delete(id)))
          throw new Error(`No budget has the id ${id}. Run svc budget list to see the ids.`);
        return { deleted: id };
      },
    },
    statusCommand(ports),
  ];
}

function statusCommand(ports: BudgetPorts): CliCommand {
  return {
    name: 'svc budget status',
    description: 'Show how far each budget is used up in the current day or month.',
    flags: { json: { type: 'boolean', description: 'Print JSON.' } },
    async run({ flags }) {
      await ports.ledger.flush();
      const budgets = await ports.budgets.list();
      // Names are for people: programs compare ids.
      const names = flags['json'] === true ? undefined : await readScopeNames(ports, budgets);
      return (await budgetStatus(ports.host, budgets)).map(
        ({ budget, period, endsAt, amount, used, reserved, left, refused, state }) => ({
          id: budget.id,
          whose: scopeLabel(budget, names),
          unit: budget.unit,
          period,
          ends: new Date(endsAt).toISOString(),
          ...inUnit(budget.unit, { amount, used, reserved, left }),
          refused,
          state,
          text: `${formatAmount(used, budget.unit)} of ${formatAmount(amount, budget.unit)}`,
        }),
      );
    },
  };
}

/** Amounts as the unit says: dollars, and not the millionths that are stored. */
function inUnit<Amounts extends Readonly<Record<string, number>>>(unit: Budget['unit'], amounts: Amounts): Amounts {
  if (unit !== 'dollars') return amounts;
  return Object.fromEntries(Object.entries(amounts).map(([name, micro]) => [name, toDollars(micro)])) as Amounts;
}

/** A role that does not exist would limit no call. Stored budgets may have roles of plugins that are inactive. */
function requireRole({ scope, role }: Readonly<Record<string, unknown>>, { users }: HostPort['host']): void {
  const names = users.roles().map(({ name }) => name);
  if (scope !== 'role' || typeof role !== 'string' || role === '' || names.includes(role)) return;
  throw new Error(`No role has the name ${role}. The roles are ${names.join(', ')}.`);
}

function parseBudget(json: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    value = null;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('Pass the budget as a JSON object, such as {"id": "monthly", "name": "Monthly", "amount": 10}.');
  return value as Record<string, unknown>;
}
