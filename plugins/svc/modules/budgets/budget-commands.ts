import type { CliCommand } from '#plugin-api';
import { budgetStatus } from './guard/budget-status.ts';
import type { ServiceContext } from '../../wiring.ts';
import { formatAmount, scopeLabel } from './words.ts';

/** `svc budget list|set|delete|status`. */
export function budgetCommands({
  host,
  settings,
  ledger,
}: Pick<ServiceContext, 'host' | 'settings' | 'ledger'>): CliCommand[] {
  const { budgets } = settings;
  return [
    {
      name: 'svc budget list',
      description: 'List the budgets as they are set.',
      run: () => budgets.list(),
    },
    {
      name: 'svc budget set',
      description:
        'Add a budget, or replace the one of the same id. What is left out takes its default: all calls, dollars, month, stop, an alert at 80 percent.',
      args: [
        {
          name: 'json',
          description:
            '{"id": "monthly", "name": "Monthly", "scope": "all|rest|module|bot", "module", "bot_id", "unit": "dollars|tokens|calls", "period": "day|month", "amount": 10, "at_limit": "stop|fallback", "fallback_provider", "fallback_model", "alert_percent": 80, "unpriced": "refuse|free", "enabled": true}',
        },
      ],
      run: async ({ args: [json = ''] }) => budgets.save(objectOf(json)),
    },
    {
      name: 'svc budget delete',
      description: 'Delete a budget. What it counted stays in the usage ledger.',
      args: [{ name: 'id', description: 'Id of the budget.' }],
      run: async ({ args: [id = ''] }) => {
        if (!(await budgets.delete(id))) throw new Error(`There is no budget with the id ${id}. See svc budget list.`);
        return { deleted: id };
      },
    },
    {
      name: 'svc budget status',
      description: 'Tell how far each budget is used up in the day or month that runs.',
      run: async () => {
        await ledger.flush();
        return (await budgetStatus(host, await budgets.list())).map(
          ({ budget, period, endsAt, amount, used, reserved, left, refused, state }) => ({
            id: budget.id,
            whose: scopeLabel(budget),
            unit: budget.unit,
            period,
            ends: new Date(endsAt).toISOString(),
            amount,
            used,
            reserved,
            left,
            refused,
            state,
            text: `${formatAmount(used, budget.unit)} of ${formatAmount(amount, budget.unit)}`,
          }),
        );
      },
    },
  ];
}

function objectOf(json: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    value = null;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('Give the budget as a JSON object, such as {"id": "monthly", "name": "Monthly", "amount": 10}.');
  return value as Record<string, unknown>;
}
