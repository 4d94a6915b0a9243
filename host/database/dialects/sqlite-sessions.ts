import type BetterSqlite from 'better-sqlite3';
import type { Pool } from 'tarn';
import { storableBindings } from './storable-bindings.ts';
import { setTimeout } from 'node:timers/promises';

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

/** Milliseconds that a write waits for another process's lock. */
const longestWait = 5_000;
/** Milliseconds between the first tries, and at most. */
const firstPause = 1;
const longestPause = 20;
/** Milliseconds without a try after which nothing is known about the lock any more. */
const forgetAfter = 1_000;

/** Runs the work, and again while another process holds the lock. The event loop runs between the tries. */
export type RetryWhileBusy = <Result>(work: () => Result | Promise<Result>) => Promise<Result>;

/**
 * The wait for the lock of another process, one for each connection. Its limit is counted from when the lock was first met, not
 * from when a statement began to wait: of many statements in a row, or of a request with several, the first one waits, and
 * the others fail at once until one succeeds.
 *
 * @param now milliseconds of a clock that never goes back
 */
export function createRetryWhileBusy(now: () => number = () => performance.now()): RetryWhileBusy {
  let metAt: number | null = null;
  let triedAt = -Infinity;

  const isOver = (): boolean => {
    const time = now();
    if (metAt === null || time - triedAt > forgetAfter) metAt = time;
    triedAt = time;
    return time - metAt >= longestWait;
  };

  return async (work) => {
    for (let pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
      try {
        const result = await work();
        metAt = null;
        return result;
      } catch (error) {
        if (!isBusy(error) || isOver()) throw error;
      }
      await setTimeout(pause);
    }
  };
}

/** Whether another connection holds a lock that the statement needs. */
function isBusy(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED'));
}
