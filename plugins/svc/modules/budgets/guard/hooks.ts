import type { BudgetedCall } from '../../../ai/ports.ts';
import type { Budget } from '../budget.ts';

/** What is about to be reserved for a call. */
export interface BudgetPlan {
  /** The budgets to reserve with. */
  readonly budgets: readonly Budget[];
  /** Millionths of a US dollar the call may cost at most; null without a price. */
  readonly cost: number | null;
  readonly tokens: number;
}

/** A budget in one of its periods. `used` and `amount` in millionths of a US dollar, tokens or calls. */
export interface BudgetAlert {
  readonly budget: Budget;
  /** `YYYY-MM-DD` or `YYYY-MM`. */
  readonly period: string;
  readonly used: number;
  readonly amount: number;
}

/** A call as filters see it. */
export interface ReservedCall extends Omit<BudgetedCall, 'estimate'> {
  /** @deprecated Use `bypassedBudgetIds`. */
  readonly waived?: readonly string[] | undefined;
}

declare module '#plugin-api' {
  interface FilterMap {
    /** Before a call is reserved: leave budgets out, raise the estimate, or refuse the call by throwing a RestError. */
    svc_budget_reserve: (plan: BudgetPlan, call: ReservedCall) => BudgetPlan;
  }
  interface ActionMap {
    /** A budget reached the percentage of its alert. Once per budget and period, on one node. */
    svc_budget_alert: (alert: BudgetAlert) => void;
    /** A budget refused a call, or fell back, for the first time in its period. On one node. */
    svc_budget_exhausted: (alert: BudgetAlert) => void;
  }
}
