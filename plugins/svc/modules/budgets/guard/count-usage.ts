import type { Knex, SqliteConnection } from '#plugin-api';
import type { UsageWrite } from '../../../ports.ts';
import { isBilled } from '../../../kit/billed-calls.ts';
import { scopeMember, type BudgetScope } from '../budget.ts';
import {
  budgetCounters,
  nameOfCounter,
  sortCounters,
  usageDays,
  usageRoleDays,
  type CounterRow,
} from './budget-tables.ts';
import { deleteReservations, type ReleasedAmount } from './delete-reservations.ts';

/** A counter after a write. */
export interface CountedBudget {
  readonly counter: string;
  readonly period: string;
  readonly used: number;
}

type UsageRow = UsageWrite['rows'][number];

/**
 * Adds stored calls to the budgets they count for and releases their reservations, in the transaction that stores them:
 * the ledger and the counters never differ. Runs after the days were written, which keeps a counter from being created
 * between the two (see `createCounter`).
 */
export async function countUsage(
  transaction: Knex.Transaction,
  { rows, dayOf, reservations }: UsageWrite,
): Promise<CountedBudget[]> {
  const released =
    reservations.length === 0
      ? new Map<string, ReleasedAmount>()
      : await deleteReservations(transaction, { calls: reservations });
  const days = daysOf({ rows, dayOf });
  const periods = periodsOf(days);
  for (const { period } of released.values()) periods.add(period);
  const counters = (await transaction(budgetCounters)
    .whereIn('period', [...periods])
    .select('*')) as CounterRow[];
  const counted: CountedBudget[] = [];
  for (const counter of sortCounters(counters)) {
    const { period } = counter;
    const added = rows
      .filter((row) => (days.get(row.time) ?? '').startsWith(period) && countsFor(counter, row))
      .reduce((sum, row) => sum + unitsOf(row, counter.unit), 0);
    const reserved = released.get(nameOfCounter(counter))?.amount ?? 0;
    if (added === 0 && reserved === 0) continue;
    const [after] = await transaction(budgetCounters)
      .where({ counter: counter.counter, period })
      .update({ used: transaction.raw('used + ?', [added]), reserved: transaction.raw('reserved - ?', [reserved]) })
      .returning<{ used: number }[]>('used');
    counted.push({ counter: counter.counter, period, used: Number(after?.used ?? 0) });
  }
  return counted;
}

const anyCounter = `SELECT 1 FROM ${budgetCounters} WHERE period IN (SELECT value FROM json_each(?)) LIMIT 1`;

/** Whether no budget has a counter for the periods of a write, and no reservation is released with it. */
export function countsForNothing(connection: SqliteConnection, write: UsageWrite): boolean {
  const { reservations } = write;
  if (reservations.length > 0) return false;
  return connection.rows(anyCounter, JSON.stringify([...periodsOf(daysOf(write))])).length === 0;
}

/** The site's day of each moment. */
function daysOf({ rows, dayOf }: Pick<UsageWrite, 'rows' | 'dayOf'>): Map<number, string> {
  return new Map(rows.map(({ time }) => [time, dayOf(time)]));
}

/** Days and their months. */
function periodsOf(days: ReadonlyMap<number, string>): Set<string> {
  return new Set([...days.values()].flatMap((day) => [day, day.slice(0, 7)]));
}

function countsFor(counter: CounterRow, row: UsageRow): boolean {
  const { scope } = counter;
  if (scope === 'rest') return row.module === 'rest';
  const member = scopeMember(scope);
  if (member === null) return scope === 'all';
  // PostgreSQL returns ids as text.
  const wanted = String(counter[member]);
  if (member === 'role') return row.roles?.split(',').includes(wanted) === true;
  return row[member] !== null && String(row[member]) === wanted;
}

function unitsOf(row: UsageRow, unit: string): number {
  if (unit === 'dollars') return row.cost ?? 0;
  if (unit === 'tokens') return row.input_tokens + row.output_tokens;
  return isBilled(row) ? 1 : 0;
}

/** The days of the ledger that count for a budget in one of its periods. */
export function daysOfBudget(knex: Knex, budget: BudgetScope, period: string): Knex.QueryBuilder {
  const { scope } = budget;
  const days = knex(scope === 'role' ? usageRoleDays : usageDays);
  void days.whereBetween('day', period.length > 7 ? [period, period] : [`${period}-01`, `${period}-31`]);
  if (scope === 'rest') void days.where('module', 'rest');
  const member = scopeMember(scope);
  if (member !== null) void days.where(member, budget[member] ?? null);
  return days;
}

/** The sum of the ledger's days in a unit: as above, in SQL. */
export function unitsOfDays(knex: Knex, unit: string): Knex.Raw {
  if (unit === 'dollars') return knex.raw('coalesce(sum(cost), 0)');
  if (unit === 'tokens') return knex.raw('coalesce(sum(input_tokens + output_tokens), 0)');
  return knex.raw('coalesce(sum(billed), 0)');
}
