import type { Budget } from '../budget.ts';
import type { BudgetedCall } from './fuse.ts';

/** What is about to be reserved for a call. */
export interface BudgetPlan {
  /** Those it will be reserved with. */
  readonly budgets: readonly Budget[];
  /** Millionths of a US dollar the call may cost at most; null without a price. */
  readonly cost: number | null;
  readonly tokens: number;
}

/** A budget in one of its periods. `used` and `amount` in millionths of a US dollar, tokens or calls. */
export interface BudgetNews {
  readonly budget: Budget;
  /** `YYYY-MM-DD` or `YYYY-MM`. */
  readonly period: string;
  readonly used: number;
  readonly amount: number;
}

declare module '#plugin-api' {
  interface FilterMap {
    /** Before a call is reserved: leave budgets out, raise the estimate, or refuse the call by throwing a RestError. */
    svc_budget_reserve: (plan: BudgetPlan, call: Omit<BudgetedCall, 'estimate'>) => BudgetPlan;
  }
  interface ActionMap {
    /** The percentage of a budget's alert is reached. Once per budget and period, on one node. */
    svc_budget_alert: (news: BudgetNews) => void;
    /** A budget refused a call, or fell back, for the first time in its period. On one node. */
    svc_budget_exhausted: (news: BudgetNews) => void;
  }
}
