import { RestError, type AdminActionResult, type AdminPageBody, type AdminRequest } from '#plugin-api';
import { withFieldErrors } from '../../admin-ui/with-field-errors.ts';
import { readText } from '../../admin-ui/form-values.ts';
import { budgetsTemplate, budgetsView, type BudgetsContext } from './budgets-view.ts';

/** The page "Budgets": how far each is used up, its switch and its form. */
export function budgetsPage(context: BudgetsContext): AdminPageBody {
  const { budgets } = context.settings;
  return {
    render: async ({ query }) => {
      const edit =
        typeof query['edit'] === 'string' ? { id: query['edit'] } : query['new'] !== undefined ? { id: '' } : null;
      return { template: budgetsTemplate, data: await budgetsView(context, edit) };
    },
    actions: {
      save: (request) => save(request, context),
      switch: async (request): Promise<AdminActionResult> => {
        const budget = await known(request, context);
        await budgets.save({ ...budget, enabled: !budget.enabled });
        return {
          notice: {
            kind: 'success',
            text: budget.enabled
              ? `“${budget.name}” is off: it holds no call back.`
              : `“${budget.name}” is on, for calls from now on.`,
          },
          redirect: 'svc/budgets',
        };
      },
      delete: async (request): Promise<AdminActionResult> => {
        const budget = await known(request, context);
        if (readText(request, 'confirm') !== '1')
          return {
            notice: { kind: 'error', text: 'Nothing was deleted. Tick the box to confirm that the budget is to go.' },
          };
        await budgets.delete(budget.id);
        return {
          notice: { kind: 'success', text: `“${budget.name}” is deleted. What it counted stays in the usage ledger.` },
          redirect: 'svc/budgets',
        };
      },
    },
  };
}

async function known(request: AdminRequest, { settings }: BudgetsContext) {
  const budget = await settings.budgets.get(readText(request, 'id'));
  if (budget === null)
    throw new RestError({
      code: 'rest_svc_budget_not_found',
      status: 400,
      message: 'This budget is gone. Reload the page.',
    });
  return budget;
}

async function save(request: AdminRequest, context: BudgetsContext): Promise<AdminActionResult> {
  const { budgets } = context.settings;
  const id = readText(request, 'id');
  const before = id === '' ? null : await known(request, context);
  const typed = { ...request.form };
  const scope = readText(request, 'whose');
  return withFieldErrors(
    async () => {
      const values = {
        ...typed,
        ...(scope.startsWith('module:') ? { scope: 'module', module: scope.slice('module:'.length) } : { scope }),
        id:
          before?.id ??
          freeId(
            readText(request, 'name'),
            (await budgets.list()).map((budget) => budget.id),
          ),
        enabled: before?.enabled ?? true,
        // Of the field that is shown for one choice only.
        bot_id: scope === 'bot' ? typed['bot_id'] : '',
      };
      const budget = await budgets.save(values);
      return {
        notice: { kind: 'success', text: `“${budget.name}” is saved and counts for calls from now on.` },
        redirect: 'svc/budgets',
      };
    },
    {
      inputName: (name) => (name === 'scope' || name === 'module' ? 'whose' : name),
      page: async (errors) => ({ template: budgetsTemplate, data: await budgetsView(context, { id, typed, errors }) }),
    },
  );
}

/** An id that says something, made from the name. */
function freeId(name: string, taken: readonly string[]): string {
  const base =
    name
      .normalize('NFKD')
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 34) || 'budget';
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? base : `${base}-${String(number)}`;
    if (!taken.includes(id)) return id;
  }
}
