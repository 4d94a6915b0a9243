import type { Budget } from '../budget.ts';
import { periodOf } from '../../../kit/visitors/period.ts';
import { localDay } from '../../../kit/local-day.ts';

export interface BudgetPeriod {
  /** `YYYY-MM-DD` or `YYYY-MM`, as counters are named. */
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly endsAt: number;
}

/** The day or month of the site that a moment is in. */
export function budgetPeriod(per: Budget['period'], now: number, timezone: string): BudgetPeriod {
  return { name: periodName(per, now, timezone), endsAt: periodOf(per, now, timezone).endsAt };
}

export function periodName(per: Budget['period'], now: number, timezone: string): string {
  return localDay(timezone)(now).slice(0, per === 'day' ? 10 : 7);
}

/** Names the counter of a budget: changed, the budget has another. */
export function counterOf({
  id,
  scope,
  module,
  bot_id,
  unit,
}: Pick<Budget, 'id' | 'scope' | 'module' | 'bot_id' | 'unit'>): string {
  const whose = scope === 'module' ? `module.${module ?? ''}` : scope === 'bot' ? `bot.${String(bot_id ?? 0)}` : scope;
  return `${id}/${whose}/${unit}`;
}
