import type { DatabaseApi, Knex } from '#plugin-api';
import { usageDaysTable } from '../../usage/ledger/usage-tables.ts';
import { budgetCounters } from './budget-tables.ts';
import { daysOfBudget, unitsOfDays } from './count-usage.ts';
import { takeNeeds, type Need } from './take-needs.ts';
import { takeReservations } from './take-reservations.ts';

export interface BudgetCounters {
  /**
   * Takes all that is needed, or nothing: each in one statement that adds only while the budget is not exceeded, so that
   * calls that come at once, on any node, never hold more than there is. Answers the first that is short, or null.
   *
   * @param lifetime milliseconds until the reservation is given back though nobody settled it.
   */
  reserve(call: string, needs: readonly Need[], lifetime: number): Promise<Need | null>;
  /** Gives back what calls held that were never settled: their processes were killed. Answers of how many counters. */
  releaseExpired(): Promise<number>;
}

export function createCounters(database: DatabaseApi): BudgetCounters {
  const begun = new Set<string>();

  async function begin(need: Need): Promise<void> {
    if (begun.size > 5000) begun.clear();
    const { counter, period } = need;
    const known = (await database
      .knex(budgetCounters)
      .where({ counter, period })
      .select('counter')
      .limit(1)) as unknown[];
    if (known.length === 0)
      await database.transaction((transaction) => beginCounter(transaction, need, database.dialect));
    begun.add(nameOf(need));
  }

  async function releaseExpired(): Promise<number> {
    return database.transaction(async (transaction) => {
      const expired = await takeReservations(transaction, { before: database.now() });
      for (const { counter, period, amount } of expired.values()) {
        await transaction(budgetCounters)
          .where({ counter, period })
          .update({ reserved: transaction.raw('reserved - ?', [amount]) });
      }
      return expired.size;
    });
  }

  async function reserve(call: string, needs: readonly Need[], lifetime: number): Promise<Need | null> {
    // In one order always, so that two transactions never wait for each other.
    const sorted = [...needs].sort((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1));
    for (const need of sorted) if (!begun.has(nameOf(need))) await begin(need);
    const take = { call, needs: sorted, lifetime };
    const short = await takeNeeds(database, take);
    if (short === null) return null;
    // Its counter may have been removed with the budget, by another process; and killed processes may hold what is missing.
    await begin(short);
    return (await releaseExpired()) > 0 || !(await isShort(database.knex, short)) ? takeNeeds(database, take) : short;
  }

  return { reserve, releaseExpired };
}

const nameOf = ({ counter, period }: Pick<Need, 'counter' | 'period'>): string => `${counter}|${period}`;

async function isShort(knex: Knex, { counter, period, amount, limit }: Need): Promise<boolean> {
  const [room] = (await knex(budgetCounters)
    .where({ counter, period })
    .whereRaw('used + reserved + ? <= ?', [amount, limit])
    .select('counter')
    .limit(1)) as unknown[];
  return room === undefined;
}

/**
 * Begins a counter with what the ledger holds of its period already, so that a budget set in the middle of a month counts
 * all of it. PostgreSQL's lock waits for writers of the days and holds new ones up: each call is in the sum, or is added
 * to the counter by its writer, never both. SQLite has one writer at a time.
 */
async function beginCounter(
  transaction: Knex.Transaction,
  { budget, counter, period }: Need,
  dialect: DatabaseApi['dialect'],
): Promise<void> {
  if (dialect === 'postgresql') await transaction.raw('lock table ?? in share mode', [usageDaysTable]);
  const { scope, module = null, bot_id = null, unit } = budget;
  // Written first: SQLite does not let a transaction write that read before another one wrote.
  await transaction(budgetCounters)
    .insert({
      counter,
      period,
      scope,
      module,
      bot_id,
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
    .update({ used: daysOfBudget(transaction(usageDaysTable), budget, period).select(unitsOfDays(transaction, unit)) });
}
