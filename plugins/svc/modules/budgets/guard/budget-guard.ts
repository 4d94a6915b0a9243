import { AsyncResource } from 'node:async_hooks';
import { RestError } from '#plugin-api';
import type { BudgetedCall, BudgetGuard, CallWrapper } from '../../../ai/ports.ts';
import { currentDryRun } from '../../../kit/dry-run.ts';
import type { UsageCounter } from '../../../ports.ts';
import type { Budget } from '../budget.ts';
import type { BudgetReservations } from './budget-reservations.ts';
import { countsForNothing, countUsage, type CountedBudget } from './count-usage.ts';

export interface BudgetGuardParts {
  readonly budgets: () => Promise<readonly Budget[]>;
  /** Whether a plugin filters reservations, and so every call. */
  readonly isFiltered: () => boolean;
  readonly load: () => Promise<BudgetReservations>;
}

/** Limits calls, and counts what the usage ledger stores. */
export interface CountingBudgetGuard extends BudgetGuard {
  readonly counter: UsageCounter;
}

/** While no budget is set, a call only looks at an empty list: the first budget loads the code that reserves. */
export function createBudgetGuard({ budgets, isFiltered, load }: BudgetGuardParts): CountingBudgetGuard {
  let loading: Promise<BudgetReservations> | undefined;
  const reservations = (): Promise<BudgetReservations> => (loading ??= load());
  // A call may be made inside a transaction: its rollback must not undo the reservation.
  const reserve = AsyncResource.bind(async (call: BudgetedCall) => (await reservations()).reserve(call));
  const explain = AsyncResource.bind(async (call: BudgetedCall) => (await reservations()).explain(call));
  const announce = AsyncResource.bind(async (counted: readonly CountedBudget[]) =>
    (await reservations()).announce(counted),
  );
  return {
    reserve: async (call) => ((await budgets()).length === 0 && !isFiltered() ? null : reserve(call)),
    explain,
    counter: {
      ignores: countsForNothing,
      async count(transaction, write) {
        const counted = await countUsage(transaction, write);
        // A failed announcement is repeated with the next write, because it was not stored as announced.
        return async () => (counted.length === 0 ? undefined : announce(counted).catch(() => undefined));
      },
    },
  };
}

/** Why a budget refused: the cause of `rest_svc_budget_exhausted`. */
export class BudgetRefusal extends Error {
  readonly budget: Budget;
  constructor(budget: Budget) {
    super(`The budget ${budget.name} is used up.`);
    this.name = 'BudgetRefusal';
    this.budget = budget;
  }
}

/**
 * Repeats a call that a budget refuses with the budget's cheaper model, if it has one. For text alone: vectors of another
 * model would not compare with the stored ones.
 */
export const withBudgetFallback: CallWrapper<'text'> = (_use, call) =>
  async function attempt(input, target) {
    try {
      return await call(input, target);
    } catch (error) {
      const refusal = error instanceof RestError && error.cause instanceof BudgetRefusal ? error.cause : null;
      if (refusal === null) throw error;
      const { code } = error as RestError;
      const { id, at_limit, fallback_provider: provider, fallback_model: model } = refusal.budget;
      const { bypassedBudgetIds } = target;
      if (at_limit !== 'fallback' || provider === undefined || bypassedBudgetIds.includes(id)) throw error;
      currentDryRun()?.detours.push({ rule: 'budget_fallback', code });
      try {
        return await attempt(input, { provider, model, bypassedBudgetIds: [...bypassedBudgetIds, id] });
      } catch (next) {
        // The cheaper model cannot take the request: the budget is what the caller can wait for.
        throw next instanceof RestError && next.code === 'rest_svc_model_cannot_see' ? error : next;
      }
    }
  };
