import { localDay } from '#plugin-api';
import { scopeMember, type Budget, type BudgetScope } from '../budget.ts';
import { findPeriod } from '../../../kit/visitors/period.ts';

export interface BudgetPeriod {
  /** `YYYY-MM-DD` or `YYYY-MM`, as in counters. */
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly startsAt: number;
  readonly endsAt: number;
}

/** The day or month of a moment, in the site's time zone. */
export function budgetPeriod(per: Budget['period'], now: number, timezone: string): BudgetPeriod {
  return { name: periodName(per, now, timezone), ...findPeriod(per, now, timezone) };
}

export function periodName(per: Budget['period'], now: number, timezone: string): string {
  return localDay(now, timezone).slice(0, per === 'day' ? 10 : 7);
}

/** The counter of a budget. A changed scope or unit has another one. */
export function counterOf(budget: Pick<Budget, 'id' | 'unit'> & BudgetScope): string {
  const { id, scope, unit } = budget;
  const member = scopeMember(scope);
  const calls = member === null ? scope : `${scope}.${String(budget[member] ?? '')}`;
  return `${id}/${calls}/${unit}`;
}
