import { invalidFields, normalizeText, requireFound, withNotice, withFieldErrors } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest } from '#plugin-api';
import { readText } from '../../admin-ui/form-values.ts';
import { scopeMembers, type Budget } from './budget.ts';
import { budgetsTemplate, budgetsView } from './budgets-view.ts';
import type { BudgetPorts } from './module.ts';

/** The page "Budgets": the state, switch and form of each. */
export function createPage(ports: BudgetPorts): AdminPageBody {
  const { budgets } = ports;
  return {
    render: async ({ query, user }) => {
      const edit =
        typeof query['edit'] === 'string' ? { id: query['edit'] } : query['new'] !== undefined ? { id: '' } : null;
      return { template: budgetsTemplate, data: await budgetsView(ports, edit, user) };
    },
    actions: {
      save: (request) => save(request, ports),
      switch: async (request): Promise<AdminActionResult> => {
        const budget = await findBudget(request, ports);
        await budgets.save({ ...budget, enabled: !budget.enabled });
        return withNotice(
          'success',
          budget.enabled
            ? `“${budget.name}” is off. It no longer limits calls.`
            : `“${budget.name}” is on. It limits new calls.`,
          { redirect: 'svc/budgets' },
        );
      },
      refuse: async (request): Promise<AdminActionResult> => {
        const budget = await findBudget(request, ports);
        await budgets.save({ ...budget, unpriced: 'refuse' });
        return withNotice('success', `“${budget.name}” refuses calls without a price now.`, {
          redirect: 'svc/budgets',
        });
      },
      delete: async (request): Promise<AdminActionResult> => {
        const budget = await findBudget(request, ports);
        await budgets.delete(budget.id);
        return withNotice('success', `“${budget.name}” deleted. The usage ledger keeps its calls.`, {
          redirect: 'svc/budgets',
        });
      },
    },
  };
}

async function findBudget(request: AdminRequest, { budgets }: BudgetPorts) {
  return requireFound(await budgets.get(readText(request, 'id')), {
    code: 'rest_svc_budget_not_found',
    status: 400,
    message: 'This budget was deleted. Reload the page.',
  });
}

async function save(request: AdminRequest, ports: BudgetPorts): Promise<AdminActionResult> {
  const { budgets } = ports;
  const id = readText(request, 'id');
  const before = id === '' ? null : await findBudget(request, ports);
  const typed = { ...request.form };
  const scope = readText(request, 'whose');
  return withFieldErrors(
    async () => {
      const values = {
        ...typed,
        id:
          before?.id ??
          freeId(
            readText(request, 'name'),
            (await budgets.list()).map((budget) => budget.id),
          ),
        enabled: before?.enabled ?? true,
        // Each field belongs to one choice only.
        ...Object.fromEntries(
          Object.entries(scopeMembers).map(([of, name]) => [name, scope === of ? typed[name] : '']),
        ),
        ...(scope === 'user' && { user_id: await readUserId(readText(request, 'user_id'), { ports, before }) }),
        ...(scope.startsWith('module:') ? { scope: 'module', module: scope.slice('module:'.length) } : { scope }),
      };
      const budget = await budgets.save(values);
      return withNotice('success', `“${budget.name}” saved. It applies to new calls.`, { redirect: 'svc/budgets' });
    },
    async (errors) => ({
      template: budgetsTemplate,
      data: await budgetsView(ports, { id, typed, errors }, request.user),
    }),
    (name) => (name === 'scope' || name === 'module' ? 'whose' : name),
  );
}

/** The id of the user with this login, email address or id; '' without one. A deleted user stays. */
async function readUserId(
  typed: string,
  { ports: { host }, before }: { readonly ports: BudgetPorts; readonly before: Budget | null },
): Promise<number | ''> {
  // PostgreSQL refuses the character NUL.
  const text = typed.replaceAll('\0', '').trim();
  if (text === '') return '';
  const user =
    (await host.users.find(text)) ?? (/^[1-9]\d{0,14}$/.test(text) ? await host.users.get(Number(text)) : null);
  if (user !== null) return user.id;
  if (text === String(before?.user_id)) return Number(text);
  throw invalidFields({ user_id: `No user has the user name, email address or ID “${text}”.` });
}

/** An unused id, generated from the name. */
function freeId(name: string, taken: readonly string[]): string {
  const base =
    normalizeText(name, 'NFKD')
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 34) || 'budget';
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? base : `${base}-${String(number)}`;
    if (!taken.includes(id)) return id;
  }
}
