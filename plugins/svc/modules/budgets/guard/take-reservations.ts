import type { Knex } from '#plugin-api';
import { budgetReservations } from './budget-tables.ts';

/** What reservations that ended held of one counter. */
export interface Released {
  readonly counter: string;
  readonly period: string;
  readonly amount: number;
}

/**
 * Removes the reservations of some calls, or those that expired. Answers what they held, a sum for each counter by its name
 * (`counter|period`), in the order of the names: two transactions that give back never wait for each other.
 */
export async function takeReservations(
  transaction: Knex.Transaction,
  which: { readonly of: readonly string[] } | { readonly before: Knex.Raw },
): Promise<Map<string, Released>> {
  const condition =
    'of' in which
      ? transaction.raw('?? in (' + which.of.map(() => '?').join(', ') + ')', ['call', ...which.of])
      : transaction.raw('?? < ?', ['expires', which.before]);
  // Removed and read in one statement: the builder gives no rows of a removal in SQLite.
  const answer: unknown = await transaction.raw('delete from ?? where ? returning counter, period, amount', [
    budgetReservations,
    condition,
  ]);
  const rows = (Array.isArray(answer) ? answer : (answer as { rows: unknown[] }).rows) as {
    counter: string;
    period: string;
    amount: number | string;
  }[];
  const sums = new Map<string, Released>();
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
