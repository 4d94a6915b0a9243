import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import BetterSqlite from 'better-sqlite3';
import knex from 'knex';
import { Pool } from 'tarn';
import type { Knex } from '#plugin-api';
import type { Dialect, DialectDependencies, Snapshot, Table, Notifier, Row } from './dialect.ts';
import { createSqliteDirect } from './sqlite-direct.ts';
import { createRetryWhileBusy, type RetryWhileBusy, createSqliteSessions } from './sqlite-sessions.ts';
import { createMemoryReader, createSqliteReader } from './sqlite-reader.ts';
import { createNotificationsTable, createSqliteNotifier, notificationsTable } from './sqlite-notifier.ts';

export interface SqliteDependencies extends DialectDependencies {
  /** Folder of `site.sqlite`, created if missing; `:memory:` for a database in memory. */
  readonly dataDir: string;
  /** The database to start from in memory. Default: an empty one. */
  readonly image?: Buffer;
  readonly afterCommit: (callback: () => void) => void;
}

const memory = ':memory:';

/** SQLite in WAL mode: readers and the writer do not block each other, and several processes may share the file. */
export async function openSqlite({ dataDir, image, clock, log, afterCommit }: SqliteDependencies): Promise<Dialect> {
  const file = dataDir === memory ? memory : prepareFile(dataDir);
  const retryWrite = createRetryWhileBusy();
  const writer = await openWriter(file === memory && image ? image : file, retryWrite);
  // One connection that writes: SQLite has one writer, and a memory database exists only in its connection.
  const writers = new Pool<BetterSqlite.Database>({
    create: () => Promise.resolve(writer),
    destroy: (connection) => connection.close(),
    ...{ min: 1, max: 1, idleTimeoutMillis: 2 ** 30, acquireTimeoutMillis: 60_000, propagateCreateError: true },
  });
  const readConnection = file === memory ? null : openReader(file);
  const connections = { writer, writers, reader: readConnection, retryWrite, retryRead: createRetryWhileBusy() };
  const database = knex({
    client: 'better-sqlite3',
    connectionPool: createSqliteSessions(connections),
    useNullAsDefault: true,
  });
  const direct = createSqliteDirect(connections);
  const reader = file === memory ? createMemoryReader(direct) : createSqliteReader(file);
  const holds = createSqliteHolds(file === memory ? null : dataDir);

  return {
    name: 'sqlite',
    knex: database,
    label: file,
    now: () => database.raw("CAST(unixepoch('subsec') * 1000 AS INTEGER)"),
    isUniqueViolation: (error) =>
      /^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY)$/.test(String((error as { code?: unknown } | null)?.code)),
    // Every transaction holds SQLite's only write lock from its start.
    lock: async () => {},
    // Altering a table rebuilds it; with foreign keys enforced, dropping the old table would delete rows that refer to it.
    migrationSettings: { enforceForeignCheck: false } as Knex.TransactionConfig,
    createNotifier: (events) => ({
      ...createSqliteNotifier({ ...events, clock, log, connection: () => writer, afterCommit }),
      ...{ hold: holds.hold, countHolders: holds.countHolders },
    }),
    direct,
    readNumbers: (select, values, transaction) => reader.readNumbers(select, values, transaction),
    reduceRows: (reduction) => reader.reduceRows(reduction),
    tables: readSqliteTables,
    dropTables: dropSqliteTables,
    withoutForeignKeys: async (_transaction, work) => work(),
    resetSequences: async () => {},
    snapshot: (read) => readSnapshot(writer, file, read),
    copyToFile: async (target) => {
      await writer.backup(target);
    },
    close: async () => {
      holds.close();
      await reader.close();
      readConnection?.close();
      // Knex switches the check of foreign keys on after a migration without waiting.
      await setImmediate();
      await writers.destroy();
      await database.destroy();
    },
  };
}

function prepareFile(dataDir: string): string {
  const file = join(dataDir, 'site.sqlite');
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    closeSync(openSync(file, 'a', 0o600));
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new Error(
      `The database file ${file} cannot be written (${reason}). Make the folder writable, or set DATA_DIR to another one.`,
      { cause: error },
    );
  }
  return file;
}

async function openWriter(source: string | Buffer, retryWrite: RetryWhileBusy): Promise<BetterSqlite.Database> {
  // A wait of SQLite's would block the event loop.
  const connection = new BetterSqlite(source, { timeout: 0 });
  // Processes that open a new file at the same moment compete here.
  await retryWrite(() => {
    connection.pragma('journal_mode = WAL');
    connection.pragma('synchronous = NORMAL');
    connection.pragma('foreign_keys = ON');
    // Checkpoint every 16 MB of log: pages that change often are written once.
    connection.pragma('wal_autocheckpoint = 4000');
    connection.pragma('cache_size = -8000');
    createNotificationsTable(connection);
  });
  return connection;
}

/** The connection for all that only reads outside of transactions. It never waits for a lock, and sees what is committed. */
function openReader(file: string): BetterSqlite.Database {
  const connection = new BetterSqlite(file, { readonly: true, timeout: 0 });
  connection.pragma('cache_size = -8000');
  return connection;
}

/** Reads on a separate connection, so that the site can write meanwhile. */
async function readSnapshot<Result>(
  main: BetterSqlite.Database,
  file: string,
  read: (snapshot: Snapshot) => Promise<Result>,
): Promise<Result> {
  const reader = file === memory ? new BetterSqlite(main.serialize()) : new BetterSqlite(file, { readonly: true });
  try {
    reader.exec('BEGIN');
    const tables: Table[] = await readSqliteTables(reader);
    return await read({ tables, rows: (table) => sqliteRows(reader, table) });
  } finally {
    reader.close();
  }
}

/** Reads the tables of a copy created by `copyToFile`. */
export async function readSqliteFile<Result>(
  file: string,
  read: (snapshot: Snapshot) => Promise<Result>,
): Promise<Result> {
  const reader = new BetterSqlite(file, { readonly: true, fileMustExist: true });
  try {
    const tables = await readSqliteTables(reader);
    return await read({ tables, rows: (table) => sqliteRows(reader, table) });
  } finally {
    reader.close();
  }
}

/** In `DATA_DIR`. */
const folderName = 'locks';

/**
 * Holds of the processes that share a SQLite file: one empty file for each name, locked by SQLite itself, whose locks the
 * operating system ends with the process. They are not in WAL mode: there a reader would not keep a writer away.
 *
 * @param dataDir null for a database in memory, which belongs to one process.
 */
function createSqliteHolds(dataDir: string | null): Pick<Notifier, 'hold' | 'countHolders'> & { close(): void } {
  const open = new Set<BetterSqlite.Database>();
  const release = (connection: BetterSqlite.Database): void => {
    if (open.delete(connection)) connection.close();
  };
  return {
    async hold(name, mode) {
      if (dataDir === null) return async () => {};
      const connection = openFile(join(dataDir, folderName), name);
      open.add(connection);
      try {
        connection.exec(mode === 'alone' ? 'BEGIN EXCLUSIVE' : 'BEGIN');
        // The lock begins with the first read.
        connection.prepare('SELECT count(*) FROM sqlite_master').get();
        return async () => release(connection);
      } catch (error) {
        release(connection);
        if ((error as { code?: unknown }).code === 'SQLITE_BUSY') return null;
        throw error;
      }
    },
    countHolders: async () => null,
    close() {
      for (const connection of open) release(connection);
    },
  };
}

function openFile(folder: string, name: string): BetterSqlite.Database {
  const file = join(folder, `${name.replaceAll(/[^a-z0-9-]/g, '-')}.lock`);
  try {
    mkdirSync(folder, { recursive: true });
    return new BetterSqlite(file, { timeout: 0 });
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new Error(`The file ${file} cannot be opened (${reason}). Make the folder writable.`, { cause: error });
  }
}

const batchSize = 500;

type Select = (sql: string) => Promise<Row[]>;

/** The ordinary tables with their columns. Virtual tables and their shadow tables are left out: triggers fill them. */
async function readSqliteTables(source: Knex | BetterSqlite.Database): Promise<Table[]> {
  const select = selectFrom(source);
  const names = (await select("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"))
    .map((row) => String(row['name']))
    .filter((name) => !name.startsWith('sqlite_') && name !== notificationsTable)
    .sort();
  const tables: Table[] = [];
  for (const name of names) {
    const columns = await select(`SELECT name, hidden FROM pragma_table_xinfo(${quoteText(name)})`);
    tables.push({
      name,
      columns: columns.map((column) => ({ name: String(column['name']), generated: column['hidden'] !== 0 })),
    });
  }
  return tables;
}

async function dropSqliteTables(transaction: Knex, tables: readonly Table[]): Promise<void> {
  const select = selectFrom(transaction);
  // Virtual tables first: dropping one drops its shadow tables.
  const virtual = await select("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'virtual'");
  for (const name of [...virtual.map((row) => String(row['name'])), ...tables.map((table) => table.name)]) {
    await transaction.schema.dropTableIfExists(name);
  }
}

async function* sqliteRows(reader: BetterSqlite.Database, table: Table): AsyncGenerator<Row[]> {
  const columns = table.columns.filter((column) => !column.generated).map((column) => quoteName(column.name));
  if (columns.length === 0) return;
  let batch: Row[] = [];
  for (const row of reader
    .prepare(`SELECT ${columns.join(', ')} FROM ${quoteName(table.name)}`)
    .iterate() as Iterable<Row>) {
    batch.push(row);
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function selectFrom(source: Knex | BetterSqlite.Database): Select {
  if (typeof source === 'function') return async (sql) => await source.raw<Row[]>(sql);
  return async (sql) => source.prepare(sql).all() as Row[];
}

const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`;
