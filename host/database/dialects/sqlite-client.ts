import type BetterSqlite from 'better-sqlite3';
// @ts-expect-error Knex has no types for it.
import KnexBetterSqlite from 'knex/lib/dialects/better-sqlite3/index.js';
import type { Knex } from '#plugin-api';

/** How long SQLite waits for another process's lock, in milliseconds. It blocks the event loop. */
const busyTimeout = 20;
/** 250 waits of 20 ms: 5 s in total. The event loop runs between the waits. */
const busyTries = 250;

/** Queries in a row before yielding to the event loop. */
const queriesPerYield = 8;

interface ClientClass {
  new (config: Knex.Config): Knex.Client;
  prototype: {
    acquireRawConnection(): Promise<BetterSqlite.Database>;
    _query(connection: BetterSqlite.Database, query: { sql: string }): Promise<unknown>;
  };
}

const BetterSqliteClient = KnexBetterSqlite as ClientClass;

/**
 * Knex's client for better-sqlite3 with these differences. Connections get the project's pragmas. Transactions take the
 * write lock when they start: upgrading a read lock later would fail at once instead of waiting. Waiting for a busy
 * database does not block the event loop, because the lock may belong to a transaction of this process. The driver is
 * synchronous, so loops of queries yield to timers and sockets regularly.
 *
 * @param onConnect receives each raw connection. There is one at a time.
 */
export function createSqliteClient(onConnect: (connection: BetterSqlite.Database) => void): typeof Knex.Client {
  // Counted here, not in the client: transactions create clients without calling its constructor.
  let queries = 0;

  class SqliteClient extends (BetterSqliteClient as unknown as new (
    config: Knex.Config,
  ) => InstanceType<ClientClass> & ClientClass['prototype']) {
    override async acquireRawConnection(): Promise<BetterSqlite.Database> {
      const connection = await super.acquireRawConnection();
      // Processes that open a new file at the same moment compete here.
      await retryWhileBusy(() => {
        setPragmas(connection);
        onConnect(connection);
      });
      return connection;
    }

    override async _query(connection: BetterSqlite.Database, query: { sql: string }): Promise<unknown> {
      if (query.sql === 'BEGIN;') query.sql = 'BEGIN IMMEDIATE;';
      if (++queries % queriesPerYield === 0) await yieldToEventLoop();
      return retryWhileBusy(() => super._query(connection, query));
    }
  }
  return SqliteClient as unknown as typeof Knex.Client;
}

/** Runs the work, and retries while another connection holds the lock. */
export async function retryWhileBusy<Result>(work: () => Result | Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= busyTries || !isBusy(error)) throw error;
      await yieldToEventLoop();
    }
  }
}

/** Lets timers, sockets and other work run. */
function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function setPragmas(connection: BetterSqlite.Database): void {
  connection.pragma(`busy_timeout = ${busyTimeout}`);
  connection.pragma('journal_mode = WAL');
  connection.pragma('synchronous = NORMAL');
  connection.pragma('foreign_keys = ON');
  // Checkpoint every 16 MB of log: pages that change often are written once.
  connection.pragma('wal_autocheckpoint = 4000');
  connection.pragma('cache_size = -8000');
}

/** Whether another connection holds a lock that the statement needs. */
export function isBusy(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED'));
}
