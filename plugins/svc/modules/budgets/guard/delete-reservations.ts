import type { Knex } from '#plugin-api';
import { budgetReservations, nameOfCounter, sortCounters } from './budget-tables.ts';

/** What the deleted reservations held of one counter. */
export interface ReleasedAmount {
  readonly counter: string;
  readonly period: string;
  readonly amount: number;
}

/**
 * Deletes the reservations of some calls, or the expired ones. Returns what they held: a sum for each counter, by its name
 * (`nameOfCounter`) and sorted by it.
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
  for (const row of sortCounters(rows)) {
    const { counter, period } = row;
    const amount = (sums.get(nameOfCounter(row))?.amount ?? 0) + Number(row.amount);
    sums.set(nameOfCounter(row), { counter, period, amount });
  }
  return sums;
}
