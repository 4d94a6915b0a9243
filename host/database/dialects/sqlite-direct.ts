import type BetterSqlite from 'better-sqlite3';
import type { SqliteConnection } from '#plugin-api';
import type { Dialect } from './dialect.ts';
import { acquireWriter, type SqliteSessionsInit } from './sqlite-sessions.ts';

/** Maximum prepared statements per connection. SQL texts are constants, so only a bug reaches it. */
const maxStatements = 500;

/**
 * Prepared statements on the one connection that writes, acquired from the pool that knex uses, so that nothing runs inside another
 * transaction. What only reads runs on the reader, or, in memory, does not wait while the connection is in no
 * transaction: it ends before another can begin.
 */
export function createSqliteDirect(init: SqliteSessionsInit): Dialect['direct'] {
  const { writer, writers, reader, retryWrite, retryRead } = init;
  const prepared = new WeakMap<BetterSqlite.Database, SqliteConnection>();

  function connectionOf(raw: BetterSqlite.Database): SqliteConnection {
    const known = prepared.get(raw);
    if (known !== undefined) return known;
    const found = prepareOn(raw);
    prepared.set(raw, found);
    return found;
  }

  return async ({ sqlite: work }, { transaction, durable, readOnly }) => {
    if (transaction !== null) return work(connectionOf(writer));
    const readable = reader ?? writer;
    if (readOnly && isFree(readable))
      return retryRead(() => runTransaction(connectionOf(readable), { work, begin: 'BEGIN', raw: readable }));
    await acquireWriter(init);
    try {
      if (durable) writer.pragma('synchronous = FULL');
      const connection = connectionOf(writer);
      return await retryWrite(() =>
        runTransaction(connection, { work, begin: readOnly ? 'BEGIN' : 'BEGIN IMMEDIATE', raw: writer }),
      );
    } finally {
      if (durable) writer.pragma('synchronous = NORMAL');
      writers.release(writer);
    }
  };
}

function isFree(raw: BetterSqlite.Database): boolean {
  return raw.open && !raw.inTransaction;
}

interface TransactionInit<Result> {
  readonly work: (connection: SqliteConnection) => Result;
  readonly begin: string;
  readonly raw: BetterSqlite.Database;
}

/** Only BEGIN can fail because of another process's lock, so retrying is safe. */
function runTransaction<Result>(connection: SqliteConnection, { work, begin, raw }: TransactionInit<Result>): Result {
  connection.run(begin);
  try {
    const result = work(connection);
    connection.run('COMMIT');
    return result;
  } catch (error) {
    if (raw.inTransaction) connection.run('ROLLBACK');
    throw error;
  }
}

function prepareOn(raw: BetterSqlite.Database): SqliteConnection {
  const statements = new Map<string, BetterSqlite.Statement<unknown[]>>();
  const rawRows = new Map<string, BetterSqlite.Statement<unknown[]>>();
  function prepare(
    known: Map<string, BetterSqlite.Statement<unknown[]>>,
    sql: string,
  ): BetterSqlite.Statement<unknown[]> {
    const found = known.get(sql);
    if (found !== undefined) return found;
    if (known.size >= maxStatements) known.clear();
    const statement = raw.prepare<unknown[]>(sql);
    if (statement.reader) statement.raw(true);
    known.set(sql, statement);
    return statement;
  }
  return {
    run(sql, ...values) {
      const { changes, lastInsertRowid } = prepare(statements, sql).run(...values);
      return { changes, lastId: Number(lastInsertRowid) };
    },
    rows: (sql, ...values) => prepare(rawRows, sql).all(...values) as unknown[][],
  };
}
