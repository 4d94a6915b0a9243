import type { DatabaseApi, PostgresqlConnection, SqliteConnection } from '#plugin-api';
import type { Budget } from '../budget.ts';

/** What a call may use of a budget at most. */
export interface ReservationRequest {
  readonly budget: Budget;
  readonly counter: string;
  readonly period: string;
  /** In the unit of the counter. */
  readonly amount: number;
  /** The budget's amount, in the unit of the counter. */
  readonly limit: number;
}

export interface Reservation {
  /** Id of the call. */
  readonly call: string;
  /** Always sorted the same way, so that two calls never deadlock. */
  readonly requests: readonly ReservationRequest[];
  /** Milliseconds until the reservation expires. */
  readonly lifetime: number;
}

/**
 * Reserves all or nothing. Returns the first request that exceeds its budget, or null. Plain SQL: under a budget it
 * runs before every call.
 */
export async function reserveAll(database: DatabaseApi, reservation: Reservation): Promise<ReservationRequest | null> {
  const work = {
    sqlite: (connection: SqliteConnection) => reserveInSqlite(connection, reservation),
    postgresql: (connection: PostgresqlConnection) => reserveInPostgresql(connection, reservation),
  };
  try {
    // A single statement on PostgreSQL, and all work on SQLite, needs no transaction.
    if (database.dialect === 'sqlite' || reservation.requests.length === 1) await database.direct(work);
    else await database.transaction(() => database.direct(work));
    return null;
  } catch (error) {
    if (error instanceof InsufficientBudget) return error.request;
    throw error;
  }
}

/** Rolls back what was reserved before. */
class InsufficientBudget extends Error {
  readonly request: ReservationRequest;
  constructor(request: ReservationRequest) {
    super('The budget is insufficient.');
    this.request = request;
  }
}

function reserveInSqlite(connection: SqliteConnection, { call, requests, lifetime }: Reservation): void {
  for (const request of requests) {
    const { counter, period, amount, limit } = request;
    const { changes } = connection.run(
      'update svc_budget_counters set reserved = reserved + ? where counter = ? and period = ? and used + reserved + ? <= ?',
      amount,
      counter,
      period,
      amount,
      limit,
    );
    if (changes === 0) throw new InsufficientBudget(request);
    connection.run(
      'insert into svc_budget_reservations (call, counter, period, amount, expires) values (?, ?, ?, ?, ' +
        "cast(unixepoch('subsec') * 1000 as integer) + ?)",
      call,
      counter,
      period,
      amount,
      lifetime,
    );
  }
}

const reserveOne = `with taken as (
    update svc_budget_counters set reserved = reserved + $3::bigint where counter = $1::text and period = $2::text and used + reserved + $3::bigint <= $4::bigint returning counter
  )
  insert into svc_budget_reservations (call, counter, period, amount, expires)
  select $5::text, $1::text, $2::text, $3::bigint, (extract(epoch from clock_timestamp()) * 1000)::bigint + $6::bigint from taken`;

async function reserveInPostgresql(
  connection: PostgresqlConnection,
  { call, requests, lifetime }: Reservation,
): Promise<void> {
  for (const request of requests) {
    const { changes } = await connection.rows(reserveOne, [
      request.counter,
      request.period,
      request.amount,
      request.limit,
      call,
      lifetime,
    ]);
    if (changes === 0) throw new InsufficientBudget(request);
  }
}
