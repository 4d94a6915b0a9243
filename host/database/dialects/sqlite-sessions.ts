import type BetterSqlite from 'better-sqlite3';
import type { Pool } from 'tarn';
import type { RetryWhileBusy } from './sqlite-lock.ts';
import { storableBindings } from './storable-bindings.ts';

/** Queries in a row before yielding to the event loop. */
const queriesPerYield = 8;

export interface SqliteSessionsInit {
  readonly writer: BetterSqlite.Database;
  /** Gives the writer to one session at a time. */
  readonly writers: Pool<BetterSqlite.Database>;
  /** The read-only connection; null for a database in memory, which exists in one connection only. */
  readonly reader: BetterSqlite.Database | null;
  readonly retryWrite: RetryWhileBusy;
  readonly retryRead: RetryWhileBusy;
}

/** What knex uses as a connection of better-sqlite3. */
export interface SqliteSession {
  prepare(sql: string): {
    readonly reader: boolean;
    all(values: readonly unknown[]): Promise<unknown[]>;
    run(values: readonly unknown[]): Promise<BetterSqlite.RunResult>;
  };
}

/**
 * The pool of knex (`connectionPool`), which holds no connections. SELECTs of a session run on the reader, so that none waits for a
 * write that waits for the lock. The first other statement waits for the writer, which the session then keeps until it
 * is released. Transactions take the write lock when they start: upgrading a read lock later would fail at once instead of
 * waiting. Waiting for a busy database does not block the event loop, because the lock may belong to a transaction of this
 * process. The driver is synchronous, so loops of queries yield to timers and sockets regularly.
 */
export function createSqliteSessions(init: SqliteSessionsInit) {
  const { writer, writers, reader, retryWrite, retryRead } = init;
  const ends = new Map<SqliteSession, () => void>();
  let queries = 0;

  function openSession(): SqliteSession {
    let holding: Promise<void> | null = null;
    let isHeld = false;
    let isReleased = false;
    const hold = async (): Promise<void> => {
      await acquireWriter(init);
      isHeld = !isReleased;
      if (isHeld) return;
      writers.release(writer);
      throw new Error('The statement timed out before the database was free.');
    };
    const send = async <Result>(isRead: boolean, work: () => Result): Promise<Result> => {
      // Knex switches the check of foreign keys on after the release, which has done it.
      if (isReleased) return work();
      if (++queries % queriesPerYield === 0) await yieldToEventLoop();
      if (isRead) return retryRead(work);
      await (holding ??= hold());
      return retryWrite(work);
    };
    const session: SqliteSession = {
      prepare(sql) {
        const free = holding === null && isSelect.test(sql) ? reader : null;
        const statement = (free ?? writer).prepare<unknown[]>(isBegin.test(sql) ? 'BEGIN IMMEDIATE' : sql);
        return {
          reader: statement.reader,
          all: (values) => send(free !== null, () => statement.all(storableBindings(values))),
          run: (values) => send(free !== null, () => statement.run(storableBindings(values))),
        };
      },
    };
    ends.set(session, () => {
      isReleased = true;
      if (!isHeld) return;
      if (writer.inTransaction) writer.exec('ROLLBACK');
      // Migrations switch it off.
      writer.pragma('foreign_keys = ON');
      writers.release(writer);
    });
    return session;
  }

  return {
    acquire: () => ({ promise: Promise.resolve(openSession()) }),
    release(session: SqliteSession): boolean {
      ends.get(session)?.();
      return ends.delete(session);
    },
    destroy: () => Promise.resolve(),
    numFree: () => 0,
    numUsed: () => ends.size,
    numPendingAcquires: () => 0,
  };
}

/** A pool that was destroyed would wait for its timeout. */
export async function acquireWriter({ writer, writers }: SqliteSessionsInit): Promise<void> {
  if (!writer.open) throw new Error('The database is closed.');
  await writers.acquire().promise;
}

const isSelect = /^\s*select\b/i;
const isBegin = /^\s*begin\b/i;

/** Lets timers, sockets and other work run. */
function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
