import type BetterSqlite from 'better-sqlite3';
import type { Knex, SqliteConnection } from '#plugin-api';
import type { Dialect } from './dialect.ts';
import { retryWhileBusy } from './sqlite-client.ts';

/** Maximum prepared statements per connection. SQL texts are constants, so only a bug reaches it. */
const maxStatements = 500;

/**
 * Prepared statements on the site's one connection, acquired from knex's pool, so that nothing runs inside another
 * transaction.
 */
export function createSqliteDirect(knex: Knex): Dialect['direct'] {
  const prepared = new WeakMap<BetterSqlite.Database, SqliteConnection>();

  function connectionOf(raw: BetterSqlite.Database): SqliteConnection {
    const found = prepared.get(raw) ?? prepareOn(raw);
    prepared.set(raw, found);
    return found;
  }

  return async ({ sqlite: work }, { transaction, durable, readOnly }) => {
    if (transaction !== null) return work(connectionOf(await acquire(transaction)));
    const raw = await acquire(knex);
    try {
      if (durable) raw.pragma('synchronous = FULL');
      const connection = connectionOf(raw);
      return await retryWhileBusy(() =>
        runTransaction(connection, { work, begin: readOnly ? 'BEGIN' : 'BEGIN IMMEDIATE', raw }),
      );
    } finally {
      if (durable) raw.pragma('synchronous = NORMAL');
      await (knex.client as Knex.Client).releaseConnection(raw);
    }
  };
}

/** A transaction's client returns the connection of that transaction. */
async function acquire(knex: Knex): Promise<BetterSqlite.Database> {
  return (await (knex.client as Knex.Client).acquireConnection()) as BetterSqlite.Database;
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
