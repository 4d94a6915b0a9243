import type BetterSqlite from 'better-sqlite3';
// @ts-expect-error Knex has no types for it.
import KnexBetterSqlite from 'knex/lib/dialects/better-sqlite3/index.js';
import type { Knex } from '#plugin-api';
import type { RetryWhileBusy } from './sqlite-lock.ts';
import { storableBindings } from './storable-bindings.ts';

/** Queries in a row before yielding to the event loop. */
const queriesPerYield = 8;

interface ClientClass {
  new (config: Knex.Config): Knex.Client;
  prototype: {
    acquireRawConnection(): Promise<BetterSqlite.Database>;
    _query(connection: BetterSqlite.Database, query: { sql: string }): Promise<unknown>;
    prepBindings(bindings: unknown): unknown;
  };
}

const BetterSqliteClient = KnexBetterSqlite as ClientClass;

type SuperClient = InstanceType<ClientClass> & ClientClass['prototype'];

export interface SqliteClientInit {
  /** Receives each raw connection. There is one at a time. */
  readonly onConnect: (connection: BetterSqlite.Database) => void;
  /** The read-only connection; null for a database in memory, which exists in one connection only. */
  readonly reader: () => BetterSqlite.Database | null;
  readonly retryWrite: RetryWhileBusy;
  readonly retryRead: RetryWhileBusy;
}

/**
 * Knex's client for better-sqlite3 with these differences. Connections get the project's pragmas. SELECTs outside of
 * transactions run on the reader, so that none waits for a write that waits for the lock. Transactions take the write lock when
 * they start: upgrading a read lock later would fail at once instead of waiting. Waiting for a busy database does not block
 * the event loop, because the lock may belong to a transaction of this process. The driver is synchronous, so loops of queries
 * yield to timers and sockets regularly.
 */
export function createSqliteClient({ onConnect, reader, retryWrite, retryRead }: SqliteClientInit): typeof Knex.Client {
  // Counted here, not in the client: transactions create clients without calling its constructor.
  let queries = 0;

  class SqliteClient extends (BetterSqliteClient as unknown as new (config: Knex.Config) => SuperClient) {
    override async acquireRawConnection(): Promise<BetterSqlite.Database> {
      const connection = await super.acquireRawConnection();
      // Processes that open a new file at the same moment compete here.
      await retryWrite(() => {
        setPragmas(connection);
        onConnect(connection);
      });
      return connection;
    }

    /** Builders of a schema send several statements, for which they need one connection. */
    override runner(builder: object): unknown {
      const runner = super.runner(builder) as { connection?: BetterSqlite.Database };
      const connection = 'transacting' in this || 'createTable' in builder ? null : reader();
      if (connection !== null) runner.connection = connection;
      return runner;
    }

    override prepBindings(bindings: unknown): unknown {
      return super.prepBindings(storableBindings(bindings));
    }

    override async _query(connection: BetterSqlite.Database, query: { sql: string }): Promise<unknown> {
      if (query.sql === 'BEGIN;') query.sql = 'BEGIN IMMEDIATE;';
      if (++queries % queriesPerYield === 0) await yieldToEventLoop();
      if (connection !== reader()) return retryWrite(() => super._query(connection, query));
      if (isSelect.test(query.sql)) return retryRead(() => super._query(connection, query));
      const writer = (await this.acquireConnection()) as BetterSqlite.Database;
      try {
        return await retryWrite(() => super._query(writer, query));
      } finally {
        await this.releaseConnection(writer);
      }
    }
  }
  return SqliteClient as unknown as typeof Knex.Client;
}

const isSelect = /^\s*select\b/i;

/** Lets timers, sockets and other work run. */
function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function setPragmas(connection: BetterSqlite.Database): void {
  // A wait of SQLite's would block the event loop.
  connection.pragma('busy_timeout = 0');
  connection.pragma('journal_mode = WAL');
  connection.pragma('synchronous = NORMAL');
  connection.pragma('foreign_keys = ON');
  // Checkpoint every 16 MB of log: pages that change often are written once.
  connection.pragma('wal_autocheckpoint = 4000');
  connection.pragma('cache_size = -8000');
}
