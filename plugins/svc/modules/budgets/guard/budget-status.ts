import type { HostApi } from '#plugin-api';
import { alertFrom, amountOf, type Budget } from '../budget.ts';
import { budgetPeriod, counterOf } from './budget-period.ts';
import { budgetCounters } from './budget-tables.ts';
import { daysOfBudget, unitsOfDays } from './count-usage.ts';

/** A budget in the current period. Figures in millionths of a US dollar, tokens or calls. */
export interface BudgetStatus {
  readonly budget: Budget;
  /** `YYYY-MM-DD` or `YYYY-MM`. */
  readonly period: string;
  /** Milliseconds since the epoch. */
  readonly startsAt: number;
  readonly endsAt: number;
  readonly amount: number;
  readonly used: number;
  /** Held by running calls. */
  readonly reserved: number;
  /** Never below 0, although the last call may have used more than estimated. */
  readonly left: number;
  /** Calls refused in this period, or made with the cheaper model instead. */
  readonly refused: number;
  readonly state: 'off' | 'ok' | 'alert' | 'exhausted';
}

/** How far budgets are used up; without a counter, what the ledger holds. */
export async function budgetStatus(
  { database, clock, site }: Pick<HostApi, 'database' | 'clock' | 'site'>,
  budgets: readonly Budget[],
): Promise<BudgetStatus[]> {
  if (budgets.length === 0) return [];
  const timezone = await site.timezone();
  const { knex } = database;
  const periods = budgets.map((budget) => ({ budget, ...budgetPeriod(budget.period, clock.now(), timezone) }));
  const rows = (await knex(budgetCounters)
    .whereIn('period', [...new Set(periods.map(({ name }) => name))])
    .select('*')) as Record<string, unknown>[];
  return Promise.all(
    periods.map(async ({ budget, name, startsAt, endsAt }) => {
      const row = rows.find(({ counter, period }) => counter === counterOf(budget) && period === name);
      const amount = amountOf(budget);
      const used = row === undefined ? await usedOf(budget, name) : Number(row['used']);
      const [reserved, refused] = [Number(row?.['reserved'] ?? 0), Number(row?.['refused'] ?? 0)];
      const isExhausted = used >= amount || Number(row?.['exhausted'] ?? 0) === amount;
      const from = alertFrom(budget);
      const state = !budget.enabled
        ? 'off'
        : isExhausted
          ? 'exhausted'
          : from !== null && used >= from
            ? 'alert'
            : 'ok';
      return {
        budget,
        period: name,
        startsAt,
        endsAt,
        amount,
        used,
        reserved,
        refused,
        left: Math.max(0, amount - used - reserved),
        state,
      };
    }),
  );

  async function usedOf(budget: Budget, period: string): Promise<number> {
    const [sum] = (await daysOfBudget(knex, budget, period).select({
      used: unitsOfDays(knex, budget.unit),
    })) as { used: number | string }[];
    return Number(sum?.used ?? 0);
  }
}
