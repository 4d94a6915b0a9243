import { RestError, type OptionsApi } from '#plugin-api';
import { invalidFields } from '../../kit/field-errors.ts';
import type { Budget } from './budget.ts';

/** The budgets a site has set. A change counts for calls from then on, on every node within a second. */
export interface BudgetStore {
  list(): Promise<readonly Budget[]>;
  get(id: string): Promise<Budget | null>;
  /** Adds a budget, or replaces that of the same id. @throws RestError 400 with a sentence for each bad member. */
  save(values: Readonly<Record<string, unknown>>): Promise<Budget>;
  /** Answers whether there was one. */
  delete(id: string): Promise<boolean>;
}

const none: readonly Budget[] = [];
const atMost = 200;

export function createBudgetStore({
  options,
}: {
  readonly options: Pick<OptionsApi, 'get' | 'update' | 'compareAndSet'>;
}): BudgetStore {
  let known: { readonly stored: unknown; readonly budgets: readonly Budget[] } | undefined;

  /** What another program may have stored is read as far as it is a list of budgets. */
  async function list(): Promise<readonly Budget[]> {
    const stored = await options.get<unknown>(budgetsOption, none);
    if (known !== undefined && known.stored === stored) return known.budgets;
    const budgets = Array.isArray(stored) && stored.length > 0 ? await readAll(stored as unknown[]) : none;
    known = { stored, budgets };
    return budgets;
  }

  /** Two administrators who save at once both keep what they saved. */
  async function change(to: (budgets: readonly Budget[]) => readonly Budget[]): Promise<void> {
    for (let tries = 0; tries < 5; tries += 1) {
      const stored = await options.get<unknown>(budgetsOption, none);
      const changed = to(await list());
      if (await options.compareAndSet(budgetsOption, stored === none ? undefined : stored, changed)) return;
    }
    throw new RestError({
      code: 'rest_svc_busy',
      status: 409,
      message: 'The budgets were changed by somebody else at the same moment. Save again.',
    });
  }

  return {
    list,
    get: async (id) => (await list()).find((budget) => budget.id === id) ?? null,
    async save(values) {
      const { readBudget } = await import('./read-budget.ts');
      const reading = readBudget(values);
      if ('errors' in reading) throw invalidFields(reading.errors);
      const { budget } = reading;
      await change((budgets) => {
        const isNew = budgets.every(({ id }) => id !== budget.id);
        if (isNew && budgets.length >= atMost)
          throw invalidFields({ id: `There may be ${String(atMost)} budgets. Delete one first.` });
        return isNew ? [...budgets, budget] : budgets.map((other) => (other.id === budget.id ? budget : other));
      });
      return budget;
    },
    async delete(id) {
      if ((await list()).every((budget) => budget.id !== id)) return false;
      await change((budgets) => budgets.filter((budget) => budget.id !== id));
      return true;
    },
  };
}

/** Loaded with the first budget. */
async function readAll(stored: readonly unknown[]): Promise<Budget[]> {
  const { readBudget } = await import('./read-budget.ts');
  return stored.flatMap((value) => {
    if (typeof value !== 'object' || value === null) return [];
    const reading = readBudget(value as Record<string, unknown>);
    return 'budget' in reading ? [reading.budget] : [];
  });
}
