import type { Knex } from '#plugin-api';
import { budgetReservations, nameOfCounter, sortCounters } from './budget-tables.ts';

/** What the deleted reservations held of one counter. */
export interface ReleasedAmount {
  readonly counter: string;
  readonly period: string;
  readonly amount: number;
}

/** Reservations past their time, and those of ended processes past their lease. */
export interface Expired {
  /** The database's time. */
  readonly before: Knex.Raw;
  /** Owners of reservations whose processes have ended. */
  readonly ended: readonly string[];
}

/**
 * Deletes the reservations of some calls, or the expired ones. Returns what they held: a sum for each counter, by its name
 * (`nameOfCounter`) and sorted by it.
 */
export async function deleteReservations(
  transaction: Knex.Transaction,
  which: { readonly calls: readonly string[] } | Expired,
): Promise<Map<string, ReleasedAmount>> {
  const list = (values: readonly string[]) => `(${values.map(() => '?').join(', ')})`;
  const condition =
    'calls' in which
      ? transaction.raw(`call in ${list(which.calls)}`, [...which.calls])
      : transaction.raw(
          `(expires < ?${which.ended.length > 0 ? ` or (lease < ? and owner in ${list(which.ended)})` : ''})`,
          [which.before, ...(which.ended.length > 0 ? [which.before, ...which.ended] : [])],
        );
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
