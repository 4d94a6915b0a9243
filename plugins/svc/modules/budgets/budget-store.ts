import { restError, type OptionsApi, invalidFields } from '#plugin-api';
import { budgetsOption, type Budget } from './budget.ts';

/** The site's budgets. A change applies to new calls, on every node within a second. */
export interface BudgetStore {
  list(): Promise<readonly Budget[]>;
  get(id: string): Promise<Budget | null>;
  /** Adds a budget, or replaces the one with the same id. @throws RestError 400 with a sentence for each invalid member. */
  save(values: Readonly<Record<string, unknown>>): Promise<Budget>;
  /** Returns false for an unknown id. */
  delete(id: string): Promise<boolean>;
}

const none: readonly Budget[] = [];
const maxBudgets = 200;

export function createBudgetStore({
  options,
}: {
  readonly options: Pick<OptionsApi, 'get' | 'computed' | 'update' | 'compareAndSet'>;
}): BudgetStore {
  const list = options.computed([budgetsOption], (stored) =>
    Array.isArray(stored) && stored.length > 0 ? readAll(stored as unknown[]) : none,
  );

  /** Two administrators who save at the same time do not overwrite each other. */
  async function change(edit: (budgets: readonly Budget[]) => readonly Budget[]): Promise<void> {
    for (let attempts = 0; attempts < 5; attempts += 1) {
      const stored = await options.get<unknown>(budgetsOption, none);
      const changed = edit(await list());
      if (await options.compareAndSet(budgetsOption, stored === none ? undefined : stored, changed)) return;
    }
    throw restError(409, 'rest_svc_busy', 'Another administrator changed the budgets at the same time. Save again.');
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
        if (isNew && budgets.length >= maxBudgets)
          throw invalidFields({ id: `A site has at most ${String(maxBudgets)} budgets. Delete one first.` });
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

/** Ignores what is no budget: another program may have stored it. The code that checks them is loaded with the first. */
async function readAll(stored: readonly unknown[]): Promise<Budget[]> {
  const { readBudget } = await import('./read-budget.ts');
  return stored.flatMap((value) => {
    if (typeof value !== 'object' || value === null) return [];
    const reading = readBudget(value as Record<string, unknown>);
    return 'budget' in reading ? [reading.budget] : [];
  });
}
