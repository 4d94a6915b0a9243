import type { DatabaseApi, Knex } from '#plugin-api';
import { budgetCounters, usageDays } from './budget-tables.ts';
import { scopeMember } from '../budget.ts';
import { daysOfBudget, unitsOfDays } from './count-usage.ts';
import { reserveAll, type ReservationRequest } from './reserve.ts';
import { deleteReservations } from './delete-reservations.ts';

export interface BudgetCounters {
  /**
   * Reserves all or nothing: each in one statement that adds only while the budget is not exceeded, so that concurrent
   * calls, on any node, never exceed it together. Returns the first request that exceeds its budget, or null.
   *
   * @param lifetime milliseconds until an unsettled reservation expires.
   */
  reserve(call: string, requests: readonly ReservationRequest[], lifetime: number): Promise<ReservationRequest | null>;
  /** Releases expired reservations, whose processes were killed. Returns the number of counters. */
  releaseExpired(): Promise<number>;
}

export function createBudgetCounters(database: DatabaseApi): BudgetCounters {
  /** Counters that exist. */
  const initialized = new Set<string>();

  async function ensureCounter(request: ReservationRequest): Promise<void> {
    if (initialized.size > 5000) initialized.clear();
    const { counter, period } = request;
    const known = (await database
      .knex(budgetCounters)
      .where({ counter, period })
      .select('counter')
      .limit(1)) as unknown[];
    if (known.length === 0)
      await database.transaction((transaction) => createCounter(transaction, request, database.dialect));
    initialized.add(nameOf(request));
  }

  async function releaseExpired(): Promise<number> {
    return database.transaction(async (transaction) => {
      const expired = await deleteReservations(transaction, { before: database.now() });
      for (const { counter, period, amount } of expired.values()) {
        await transaction(budgetCounters)
          .where({ counter, period })
          .update({ reserved: transaction.raw('reserved - ?', [amount]) });
      }
      return expired.size;
    });
  }

  async function reserve(
    call: string,
    requests: readonly ReservationRequest[],
    lifetime: number,
  ): Promise<ReservationRequest | null> {
    const sorted = sortRequests(requests);
    for (const request of sorted) if (!initialized.has(nameOf(request))) await ensureCounter(request);
    const reservation = { call, requests: sorted, lifetime };
    const exceeding = await reserveAll(database, reservation);
    if (exceeding === null) return null;
    // Another process may have removed the counter with its budget, and killed processes may still hold reservations.
    await ensureCounter(exceeding);
    return (await releaseExpired()) > 0 || !(await isExceeded(database.knex, exceeding))
      ? reserveAll(database, reservation)
      : exceeding;
  }

  return { reserve, releaseExpired };
}

/** Always sorted the same way, so that two transactions never deadlock. */
export function sortRequests(requests: readonly ReservationRequest[]): ReservationRequest[] {
  return [...requests].sort((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1));
}

const nameOf = ({ counter, period }: Pick<ReservationRequest, 'counter' | 'period'>): string => `${counter}|${period}`;

async function isExceeded(knex: Knex, { counter, period, amount, limit }: ReservationRequest): Promise<boolean> {
  const [room] = (await knex(budgetCounters)
    .where({ counter, period })
    .whereRaw('used + reserved + ? <= ?', [amount, limit])
    .select('counter')
    .limit(1)) as unknown[];
  return room === undefined;
}

/**
 * Creates a counter with what the ledger holds of its period, so that a budget set in the middle of a month counts all of
 * it. PostgreSQL's lock waits for writers of the days and blocks new ones: each call is in the sum, or its writer adds it
 * to the counter, never both. SQLite has one writer at a time.
 */
async function createCounter(
  transaction: Knex.Transaction,
  { budget, counter, period }: ReservationRequest,
  dialect: DatabaseApi['dialect'],
): Promise<void> {
  if (dialect === 'postgresql') await transaction.raw('lock table ?? in share mode', [usageDays]);
  const { scope, unit } = budget;
  const member = scopeMember(scope);
  // Insert first: in SQLite a transaction that has read cannot write after another one wrote.
  await transaction(budgetCounters)
    .insert({
      counter,
      period,
      scope,
      ...(member !== null && { [member]: budget[member] }),
      unit,
      used: 0,
      reserved: 0,
      refused: 0,
      alerted: 0,
      exhausted: 0,
    })
    .onConflict(['counter', 'period'])
    .ignore();
  await transaction(budgetCounters)
    .where({ counter, period })
    .update({ used: daysOfBudget(transaction, budget, period).select(unitsOfDays(transaction, unit)) });
}
