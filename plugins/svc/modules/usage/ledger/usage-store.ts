import type { DatabaseApi, DirectValue, DirectWork, Knex, SqliteConnection } from '#plugin-api';
import { usageDays, usageRoleDays, type NewUsageRow } from './usage-row.ts';
import {
  dayKeys,
  daySums,
  roleDayKeys,
  roleDaySums,
  usageColumns,
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

/** Counts what is written elsewhere, in the transaction of the write. */
export interface UsageCounter {
  /** Whether a write counts for nothing: SQLite then stores it in one turn of the event loop. Asked in its transaction. */
  ignores(connection: SqliteConnection, write: UsageWrite): boolean;
  /** Runs after the days are written. Returns what to do after the commit, which never rejects. */
  count(transaction: Knex.Transaction, write: UsageWrite): Promise<() => Promise<void>>;
}

const doNothing = (): Promise<void> => Promise.resolve();

/** Stores a few hundred calls at most and adds them to their days, all or nothing. Returns what to do after the commit. */
export async function writeUsage(
  database: Pick<DatabaseApi, 'dialect' | 'knex' | 'direct'>,
  given: Omit<UsageWrite, 'reservations'> & Partial<UsageWrite>,
  counter?: UsageCounter,
): Promise<() => Promise<void>> {
  const write = { reservations: [], ...given };
  const { rows, dayOf } = write;
  if (rows.length === 0 && write.reservations.length === 0) return doNothing;
  const inserts = [
    { into: calls, rows },
    { into: days, rows: usageDays(rows, dayOf) },
    { into: roleDays, rows: usageRoleDays(rows, dayOf) },
  ];
  if (database.dialect === 'sqlite' && (await database.direct(insertUncounted(inserts, write, counter))))
    return doNothing;
  // Not `database.transaction`: everything here takes the transaction as an argument, and one that spreads through the
  // asynchronous context slows every promise of the process while it lasts.
  return database.knex.transaction(async (transaction) => {
    await database.direct(insertAll(inserts), { transaction });
    return counter?.count(transaction, write) ?? doNothing;
  });
}

/** A table and what its rows are inserted by, prepared once for any number of them: several hundred calls a second are stored. */
interface Target {
  readonly columns: readonly string[];
  readonly sqlite: string;
  readonly postgresql: string;
}

const calls = targetOf(usageTable, usageColumns);
const days = sumsOf(usageDaysTable, { keys: ['day', ...dayKeys], sums: daySums });
const roleDays = sumsOf(usageRoleDaysTable, { keys: ['day', ...roleDayKeys], sums: roleDaySums });

/** Rows whose keys exist are added to them. */
function sumsOf(
  table: string,
  { keys, sums }: { readonly keys: readonly string[]; readonly sums: readonly string[] },
): Target {
  const added = sums.map((sum) => `${sum} = ${table}.${sum} + excluded.${sum}`);
  return targetOf(table, [...keys, ...sums], `ON CONFLICT (${keys.join(', ')}) DO UPDATE SET ${added.join(', ')}`);
}

function targetOf(table: string, columns: readonly string[], conflict = ''): Target {
  const into = `INSERT INTO ${table} (${columns.join(', ')})`;
  return {
    columns,
    sqlite: `${into} VALUES (${columns.map(() => '?').join(', ')}) ${conflict}`,
    postgresql: `${into} SELECT ${columns.join(', ')} FROM json_populate_recordset(NULL::${table}, $1::json) ${conflict}`,
  };
}

interface Insert {
  readonly into: Target;
  readonly rows: readonly Readonly<Record<string, DirectValue>>[];
}

/** Inserts nothing and returns false if the counter does not ignore the write. */
function insertUncounted(
  inserts: readonly Insert[],
  write: UsageWrite,
  counter: UsageCounter | undefined,
): DirectWork<boolean> {
  return {
    sqlite(connection) {
      if (counter?.ignores(connection, write) === false) return false;
      void insertAll(inserts).sqlite(connection);
      return true;
    },
    postgresql: () => Promise.resolve(false),
  };
}

function insertAll(inserts: readonly Insert[]): DirectWork<void | Promise<void>> {
  return {
    sqlite({ run }) {
      for (const { into, rows } of inserts)
        for (const row of rows) run(into.sqlite, ...into.columns.map((column) => row[column] ?? null));
    },
    async postgresql(connection) {
      for (const { into, rows } of inserts)
        if (rows.length > 0) await connection.rows(into.postgresql, [JSON.stringify(rows)]);
    },
  };
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
