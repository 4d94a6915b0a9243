import { AsyncResource } from 'node:async_hooks';
import type { Budget } from '../budget.ts';
import type { UsageOrigin, UsageRecord } from '../../../ai/usage-record.ts';
import type { CountedBudget } from './count-usage.ts';

/** What a call may use at most, guessed before it is made. */
export type EstimatedUse = Pick<UsageRecord, 'inputTokens' | 'outputTokens' | 'images'>;

/** A call that is about to be made. */
export interface BudgetedCall {
  readonly kind: UsageRecord['kind'];
  /** Id of the provider. */
  readonly provider: string;
  readonly model: string;
  readonly origin: UsageOrigin;
  /** Asked only where a budget needs it: counting takes time. */
  readonly estimate: () => Promise<EstimatedUse>;
  /** Milliseconds the call may take. */
  readonly limit: number;
  /** Ids of budgets that do not hold this call back: it is what they fell back to. */
  readonly waived?: readonly string[] | undefined;
}

/** The budgets in front of calls to providers. */
export interface SpendFuse {
  /**
   * Reserves what a call may use at most with every budget that applies to it. Answers the id it is settled with, or null
   * where none applies: such a call costs the time of looking at an empty list.
   *
   * @throws RestError 429 `rest_svc_budget_exhausted` with `Retry-After`; its cause is a BudgetRefusal.
   * @throws RestError 400 `rest_svc_budget_no_price` for a call without a price under a budget of dollars that refuses those.
   */
  reserve(call: BudgetedCall): Promise<string | null>;
  /** Told after each write of the ledger what was counted: alerts follow from it. Never rejects. */
  counted(budgets: readonly CountedBudget[]): Promise<void>;
}

export interface FuseGateParts {
  readonly budgets: () => Promise<readonly Budget[]>;
  /** Whether a plugin wants to see every call that is about to be made. */
  readonly isWatched: () => boolean;
  readonly load: () => Promise<SpendFuse>;
}

/** Stands before the fuse while no budget is set: its code is loaded by the first one. */
export function createFuseGate({ budgets, isWatched, load }: FuseGateParts): SpendFuse {
  let loaded: Promise<SpendFuse> | undefined;
  const fuse = (): Promise<SpendFuse> => (loaded ??= load());
  // A call may be made inside somebody's transaction: what it reserves must not be undone with that.
  const reserveApart = AsyncResource.bind(async (call: BudgetedCall) => (await fuse()).reserve(call));
  const countedApart = AsyncResource.bind(async (counted: readonly CountedBudget[]) => (await fuse()).counted(counted));
  return {
    reserve: async (call) => ((await budgets()).length === 0 && !isWatched() ? null : reserveApart(call)),
    // What could not be announced is with the next write: nothing was written down as announced.
    counted: async (counted) => (counted.length === 0 ? undefined : countedApart(counted).catch(() => undefined)),
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
