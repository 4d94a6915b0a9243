import { createRequire } from 'node:module';
import type BetterSqlite from 'better-sqlite3';
import type { Knex } from '#plugin-api';

/** How long SQLite itself waits for another process's lock, in milliseconds; the event loop stands still meanwhile. */
const busyTimeout = 20;
/** 250 waits of 20 ms: a lock is waited for 5 s in all, and between the waits this process goes on working. */
const busyTries = 250;

/** Queries in a row before others get their turn. */
const queriesPerTurn = 8;

interface ClientClass {
  new (config: Knex.Config): Knex.Client;
  prototype: {
    acquireRawConnection(): Promise<BetterSqlite.Database>;
    _query(connection: BetterSqlite.Database, query: { sql: string }): Promise<unknown>;
  };
}

const BetterSqliteClient = createRequire(import.meta.url)('knex/lib/dialects/better-sqlite3/index.js') as ClientClass;

/**
 * Knex's client for better-sqlite3 with a few differences: connections get the project's pragmas; transactions take the
 * write lock when they begin (a read lock that must be raised later fails at once instead of waiting); and a busy
 * database is waited for without holding up the event loop, where the lock's holder may be a transaction of this very process.
 * The driver answers at once, so that a loop of queries would never let timers and sockets in: now and then it has to.
 *
 * @param onConnect is handed each raw connection. There is one at a time.
 */
export function createSqliteClient(onConnect: (connection: BetterSqlite.Database) => void): typeof Knex.Client {
  // Counted here and not in the client: transactions make clients of their own without calling its constructor.
  let queries = 0;

  class SqliteClient extends (BetterSqliteClient as unknown as new (
    config: Knex.Config,
  ) => InstanceType<ClientClass> & ClientClass['prototype']) {
    override async acquireRawConnection(): Promise<BetterSqlite.Database> {
      const connection = await super.acquireRawConnection();
      // Processes that open a new file at the same moment meet here.
      await whenFree(() => {
        setPragmas(connection);
        onConnect(connection);
      });
      return connection;
    }

    override async _query(connection: BetterSqlite.Database, query: { sql: string }): Promise<unknown> {
      if (query.sql === 'BEGIN;') query.sql = 'BEGIN IMMEDIATE;';
      if (++queries % queriesPerTurn === 0) await nextTurn();
      return whenFree(() => super._query(connection, query));
    }
  }
  return SqliteClient as unknown as typeof Knex.Client;
}

/** Does the work, again and again while another connection holds the lock it needs. */
export async function whenFree<Result>(work: () => Result | Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= busyTries || !isBusy(error)) throw error;
      await nextTurn();
    }
  }
}

/** Lets timers, sockets and other work go on. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function setPragmas(connection: BetterSqlite.Database): void {
  connection.pragma(`busy_timeout = ${busyTimeout}`);
  connection.pragma('journal_mode = WAL');
  connection.pragma('synchronous = NORMAL');
  connection.pragma('foreign_keys = ON');
  // 16 MB of log before it is moved into the file: pages that change often are moved once.
  connection.pragma('wal_autocheckpoint = 4000');
  connection.pragma('cache_size = -8000');
}

function isBusy(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED'));
}
