import type BetterSqlite from 'better-sqlite3';
import type { Knex, SqliteConnection } from '#plugin-api';
import type { Dialect } from './dialect.ts';
import { whenFree } from './sqlite-client.ts';

/** Statements kept per connection. There are as many as there are texts in the program, so it is never reached but by mistake. */
const keptStatements = 500;

/** Prepared statements on the site's one connection, which is asked for as every query asks for it: nothing runs inside somebody else's transaction. */
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
      return await whenFree(() =>
        runTransaction(connection, { work, begin: readOnly ? 'BEGIN' : 'BEGIN IMMEDIATE', raw }),
      );
    } finally {
      if (durable) raw.pragma('synchronous = NORMAL');
      await (knex.client as Knex.Client).releaseConnection(raw);
    }
  };
}

/** A transaction's client answers the connection of that transaction. */
async function acquire(knex: Knex): Promise<BetterSqlite.Database> {
  return (await (knex.client as Knex.Client).acquireConnection()) as BetterSqlite.Database;
}

interface OneTransaction<Result> {
  readonly work: (connection: SqliteConnection) => Result;
  readonly begin: string;
  readonly raw: BetterSqlite.Database;
}

/** Only its beginning can meet another process's lock: then nothing has happened yet. */
function runTransaction<Result>(connection: SqliteConnection, { work, begin, raw }: OneTransaction<Result>): Result {
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
    if (known.size >= keptStatements) known.clear();
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
