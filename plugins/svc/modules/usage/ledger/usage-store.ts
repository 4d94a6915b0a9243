import type { DatabaseApi, Knex } from '#plugin-api';
import { usageDays, usageRoleDays, type NewUsageRow } from './usage-row.ts';
import {
  dayKeys,
  daySums,
  roleDayKeys,
  roleDaySums,
  usageDaysTable,
  usageRoleDaysTable,
  usageTable,
} from './usage-tables.ts';

export interface UsageWrite {
  readonly rows: readonly NewUsageRow[];
  /** The site's day of a moment. */
  readonly dayOf: (time: number) => string;
  /** Ids of the reservations that the calls settle. */
  readonly reservations: readonly string[];
}

/** Runs in the transaction of a write, after its days. Returns what to do after the commit, which never rejects. */
export type OnUsageWrite = (transaction: Knex.Transaction, write: UsageWrite) => Promise<() => Promise<void>>;

const doNothing = (): Promise<void> => Promise.resolve();

/** Stores a few hundred calls at most and adds them to their days, all or nothing. Returns what to do after the commit. */
export async function writeUsage(
  { knex }: Pick<DatabaseApi, 'knex'>,
  write: Omit<UsageWrite, 'reservations'> & Partial<UsageWrite>,
  onWrite?: OnUsageWrite,
): Promise<() => Promise<void>> {
  const { rows, dayOf, reservations = [] } = write;
  if (rows.length === 0) return doNothing;
  // Not `database.transaction`: everything here takes the transaction as an argument, and one that spreads through the
  // asynchronous context slows every promise of the process while it lasts.
  return knex.transaction(async (transaction) => {
    await transaction(usageTable).insert([...rows]);
    const days = { table: usageDaysTable, keys: dayKeys, sums: daySums, rows: usageDays(rows, dayOf) };
    await addDays(transaction, days);
    const byRole = usageRoleDays(rows, dayOf);
    if (byRole.length > 0)
      await addDays(transaction, { table: usageRoleDaysTable, keys: roleDayKeys, sums: roleDaySums, rows: byRole });
    return onWrite?.(transaction, { rows, dayOf, reservations }) ?? doNothing;
  });
}

interface AddedDays {
  readonly table: string;
  /** Besides the day. */
  readonly keys: readonly string[];
  readonly sums: readonly string[];
  readonly rows: readonly object[];
}

async function addDays(transaction: Knex.Transaction, { table, keys, sums, rows }: AddedDays): Promise<void> {
  const added = sums.map((sum) => [sum, transaction.raw('?? + ??', [`${table}.${sum}`, `excluded.${sum}`])]);
  await transaction(table)
    .insert(rows)
    .onConflict(['day', ...keys])
    .merge(Object.fromEntries(added));
}

export interface SweepUsage {
  /** Milliseconds since the epoch: calls that ended before it are deleted. */
  readonly before: number;
  /** The same moment as a day of the site. */
  readonly beforeDay: string;
}

const deleteBatch = 2000;

/** Deletes older calls in batches, so that no lock is held for long. Returns the number of calls. */
export async function sweepUsage(
  { knex }: Pick<DatabaseApi, 'knex'>,
  { before, beforeDay }: SweepUsage,
): Promise<number> {
  let deleted = 0;
  for (;;) {
    const oldest = knex(usageTable).select('id').where('time', '<', before).orderBy('time').limit(deleteBatch);
    const count = await knex(usageTable).whereIn('id', oldest).delete();
    deleted += count;
    if (count < deleteBatch) break;
  }
  for (const days of [usageDaysTable, usageRoleDaysTable]) await knex(days).where('day', '<', beforeDay).delete();
  return deleted;
}
