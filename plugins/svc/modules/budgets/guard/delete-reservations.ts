import type { Knex } from '#plugin-api';
import { budgetReservations } from './budget-tables.ts';

/** What the deleted reservations held of one counter. */
export interface ReleasedAmount {
  readonly counter: string;
  readonly period: string;
  readonly amount: number;
}

/**
 * Deletes the reservations of some calls, or the expired ones. Returns what they held: a sum for each counter, by its name
 * (`counter|period`) and sorted by it, so that two transactions that release never deadlock.
 */
export async function deleteReservations(
  transaction: Knex.Transaction,
  which: { readonly calls: readonly string[] } | { readonly before: Knex.Raw },
): Promise<Map<string, ReleasedAmount>> {
  const condition =
    'calls' in which
      ? transaction.raw('?? in (' + which.calls.map(() => '?').join(', ') + ')', ['call', ...which.calls])
      : transaction.raw('?? < ?', ['expires', which.before]);
  // Raw SQL: the query builder returns no deleted rows on SQLite.
  const result: unknown = await transaction.raw('delete from ?? where ? returning counter, period, amount', [
    budgetReservations,
    condition,
  ]);
  const rows = (Array.isArray(result) ? result : (result as { rows: unknown[] }).rows) as {
    counter: string;
    period: string;
    amount: number | string;
  }[];
  const sums = new Map<string, ReleasedAmount>();
  const nameOf = ({ counter, period }: { counter: string; period: string }): string => `${counter}|${period}`;
  for (const row of [...rows].sort((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1))) {
    sums.set(nameOf(row), {
      counter: row.counter,
      period: row.period,
      amount: (sums.get(nameOf(row))?.amount ?? 0) + Number(row.amount),
    });
  }
  return sums;
}
