import type { DatabaseApi, Knex } from '#plugin-api';
import { budgetCounters, budgetReservations, nameOfCounter, sortCounters, usageDays } from './budget-tables.ts';
import { scopeMember } from '../budget.ts';
import { daysOfBudget, unitsOfDays } from './count-usage.ts';
import { distinctRequests, reserveAll, type Reservation, type ReservationRequest } from './reserve.ts';
import { deleteReservations } from './delete-reservations.ts';
import type { ReservationOwner } from './reservation-owner.ts';

export interface BudgetCounters {
  /**
   * Reserves for several calls, in their order and for each all or nothing, so that concurrent calls, on any node, never
   * exceed a budget together. Returns for each call the first request that exceeds its budget, or null.
   */
  reserve(reservations: readonly Reservation[]): Promise<(ReservationRequest | null)[]>;
  /** Releases the reservations of processes that were killed. Returns the number of counters. */
  releaseExpired(): Promise<number>;
}

/** @param owner this process */
export function createBudgetCounters(
  database: DatabaseApi,
  owner: Pick<ReservationOwner, 'name' | 'keep' | 'isRunning'>,
): BudgetCounters {
  /** Counters that exist. */
  const initialized = new Set<string>();

  /** Returns whether it created the counter. */
  async function ensureCounter(request: ReservationRequest): Promise<boolean> {
    if (initialized.size > 5000) initialized.clear();
    const { counter, period } = request;
    const known = (await database
      .knex(budgetCounters)
      .where({ counter, period })
      .select('counter')
      .limit(1)) as unknown[];
    if (known.length === 0)
      await database.transaction((transaction) => createCounter(transaction, request, database.dialect));
    initialized.add(nameOfCounter(request));
    return known.length === 0;
  }

  async function releaseExpired(): Promise<number> {
    const before = database.now();
    const owners = (await database
      .knex(budgetReservations)
      .where('lease', '<', before)
      .distinct<{ owner: string }[]>('owner')) as { readonly owner: string }[];
    const ended = owners.map((row) => row.owner).filter((name) => !owner.isRunning(name));
    return database.transaction(async (transaction) => {
      const expired = await deleteReservations(transaction, { before, ended });
      for (const { counter, period, amount } of expired.values()) {
        await transaction(budgetCounters)
          .where({ counter, period })
          .update({ reserved: transaction.raw('reserved - ?', [amount]) });
      }
      return expired.size;
    });
  }

  /** Whether a refused call may succeed now: another process may have removed a counter, and killed ones may hold amounts. */
  async function makeRoom(exceeding: readonly ReservationRequest[]): Promise<boolean> {
    let isCreated = false;
    for (const request of distinctRequests(exceeding)) isCreated = (await ensureCounter(request)) || isCreated;
    return (await releaseExpired()) > 0 || isCreated;
  }

  async function reserve(given: readonly Reservation[]): Promise<(ReservationRequest | null)[]> {
    const reservations = given.map((one) => ({ ...one, requests: sortCounters(one.requests) }));
    for (const request of distinctRequests(reservations.flatMap(({ requests }) => requests)))
      if (!initialized.has(nameOfCounter(request))) await ensureCounter(request);
    const exceeding = await reserveAll(database, reservations, owner.name);
    if (exceeding.includes(null)) owner.keep();
    const refused = reservations.filter((_reservation, index) => exceeding[index] !== null);
    if (refused.length === 0 || !(await makeRoom(exceeding.filter((request) => request !== null)))) return exceeding;
    const again = await reserveAll(database, refused, owner.name);
    if (again.includes(null)) owner.keep();
    return exceeding.map((request) => (request === null ? null : (again.shift() ?? null)));
  }

  return { reserve, releaseExpired };
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
