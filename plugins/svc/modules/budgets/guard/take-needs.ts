import type { DatabaseApi, PostgresqlConnection, SqliteConnection } from '#plugin-api';
import type { Budget } from '../budget.ts';

/** What a call may use of a budget at most. */
export interface Need {
  readonly budget: Budget;
  readonly counter: string;
  readonly period: string;
  /** As the counter counts. */
  readonly amount: number;
  /** The budget's amount, as the counter counts. */
  readonly limit: number;
}

export interface TakeNeeds {
  /** Id of the call. */
  readonly call: string;
  /** In one order always, so that two calls never wait for each other. */
  readonly needs: readonly Need[];
  /** Milliseconds until the reservation is given back. */
  readonly lifetime: number;
}

/** Takes all needs or none. Answers the first that is short, or null. Hand-written: under a budget it runs before every call. */
export async function takeNeeds(database: DatabaseApi, take: TakeNeeds): Promise<Need | null> {
  const work = {
    sqlite: (connection: SqliteConnection) => takeInSqlite(connection, take),
    postgresql: (connection: PostgresqlConnection) => takeInPostgresql(connection, take),
  };
  try {
    // PostgreSQL's statement for one need is a transaction of its own, as all of SQLite's work is.
    if (database.dialect === 'sqlite' || take.needs.length === 1) await database.direct(work);
    else await database.transaction(() => database.direct(work));
    return null;
  } catch (error) {
    if (error instanceof Short) return error.need;
    throw error;
  }
}

/** Undoes what was taken already. */
class Short extends Error {
  readonly need: Need;
  constructor(need: Need) {
    super('A budget is short.');
    this.need = need;
  }
}

function takeInSqlite(connection: SqliteConnection, { call, needs, lifetime }: TakeNeeds): void {
  for (const need of needs) {
    const { counter, period, amount, limit } = need;
    const { changes } = connection.run(
      'update svc_budget_counters set reserved = reserved + ? where counter = ? and period = ? and used + reserved + ? <= ?',
      amount,
      counter,
      period,
      amount,
      limit,
    );
    if (changes === 0) throw new Short(need);
    connection.run(
      "insert into svc_budget_reservations (call, counter, period, amount, expires) values (?, ?, ?, ?, cast(unixepoch('subsec') * 1000 as integer) + ?)",
      call,
      counter,
      period,
      amount,
      lifetime,
    );
  }
}

const takeOne = `with taken as (
    update svc_budget_counters set reserved = reserved + $3::bigint where counter = $1::text and period = $2::text and used + reserved + $3::bigint <= $4::bigint returning counter
  )
  insert into svc_budget_reservations (call, counter, period, amount, expires)
  select $5::text, $1::text, $2::text, $3::bigint, (extract(epoch from clock_timestamp()) * 1000)::bigint + $6::bigint from taken`;

async function takeInPostgresql(connection: PostgresqlConnection, { call, needs, lifetime }: TakeNeeds): Promise<void> {
  for (const need of needs) {
    const { changes } = await connection.rows(takeOne, [
      need.counter,
      need.period,
      need.amount,
      need.limit,
      call,
      lifetime,
    ]);
    if (changes === 0) throw new Short(need);
  }
}
