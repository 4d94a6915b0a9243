import type { DatabaseApi, PostgresqlConnection, SqliteConnection } from '#plugin-api';
import type { Budget } from '../budget.ts';
import { nameOfCounter } from './budget-tables.ts';
import { leaseDuration } from './reservation-owner.ts';

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
  /** If several exceed their budgets, the first is the reason. */
  readonly requests: readonly ReservationRequest[];
  /** Milliseconds until the reservation expires. */
  readonly lifetime: number;
}

/**
 * Reserves for several calls in one transaction, in their order and for each all or nothing. Returns for each call the
 * first request that exceeds its budget, or null. Plain SQL: under a budget it runs before every call.
 *
 * @param owner the process, which renews the leases (`reservation-owner.ts`)
 */
export async function reserveAll(
  database: DatabaseApi,
  reservations: readonly Reservation[],
  owner: string,
): Promise<(ReservationRequest | null)[]> {
  const [first] = reservations;
  const [request, ...others] = reservations.flatMap(({ requests }) => requests);
  const isOne = first !== undefined && request !== undefined && others.length === 0;
  const work = {
    sqlite: (connection: SqliteConnection) => reserveInSqlite(connection, reservations, owner),
    postgresql: (connection: PostgresqlConnection) =>
      isOne
        ? reserveOne(connection, { ...first, request, owner })
        : reserveInPostgresql(connection, reservations, owner),
  };
  // A single statement on PostgreSQL, and all work on SQLite, needs no transaction.
  return isOne || database.dialect === 'sqlite'
    ? database.direct(work)
    : database.transaction(() => database.direct(work));
}

/** A counter while amounts of it are reserved. */
interface OpenCounter {
  readonly counter: string;
  readonly period: string;
  /** Used and reserved. */
  taken: number;
  /** What this transaction reserves. */
  added: number;
}

interface ReservedAmount extends Pick<ReservationRequest, 'counter' | 'period' | 'amount'> {
  readonly call: string;
  readonly lifetime: number;
}

interface Division {
  /** As `reserveAll` returns it. */
  readonly exceeding: (ReservationRequest | null)[];
  readonly changed: readonly OpenCounter[];
  readonly reserved: readonly ReservedAmount[];
}

/** @param counters those that exist: one that is missing is exceeded. */
function divide(reservations: readonly Reservation[], counters: readonly OpenCounter[]): Division {
  const byName = new Map(counters.map((counter) => [nameOfCounter(counter), counter]));
  const reserved: ReservedAmount[] = [];
  const exceeding = reservations.map(({ call, requests, lifetime }) => {
    const wanted = requests.map((request) => ({ request, open: byName.get(nameOfCounter(request)) ?? full(request) }));
    const exceeded = wanted.find(({ request, open }) => open.taken + request.amount > request.limit);
    if (exceeded !== undefined) return exceeded.request;
    for (const { request, open } of wanted) {
      const { counter, period, amount } = request;
      open.taken += amount;
      open.added += amount;
      reserved.push({ call, counter, period, amount, lifetime });
    }
    return null;
  });
  return { exceeding, changed: counters.filter(({ added }) => added > 0), reserved };
}

function full({ counter, period }: ReservationRequest): OpenCounter {
  return { counter, period, taken: Infinity, added: 0 };
}

/** One request of each counter. */
export function distinctRequests(requests: readonly ReservationRequest[]): ReservationRequest[] {
  return [...new Map(requests.map((request) => [nameOfCounter(request), request])).values()];
}

function countersOf(reservations: readonly Reservation[]): ReservationRequest[] {
  return distinctRequests(reservations.flatMap(({ requests }) => requests));
}

function toCounter([counter, period, taken]: readonly unknown[]): OpenCounter {
  return { counter: String(counter), period: String(period), taken: Number(taken), added: 0 };
}

function reserveInSqlite(
  connection: SqliteConnection,
  reservations: readonly Reservation[],
  owner: string,
): Division['exceeding'] {
  const counters = countersOf(reservations).flatMap(({ counter, period }) =>
    connection
      .rows(
        'select counter, period, used + reserved from svc_budget_counters where counter = ? and period = ?',
        counter,
        period,
      )
      .map(toCounter),
  );
  const { exceeding, changed, reserved } = divide(reservations, counters);
  for (const { counter, period, added } of changed)
    connection.run(
      'update svc_budget_counters set reserved = reserved + ? where counter = ? and period = ?',
      added,
      counter,
      period,
    );
  for (const { call, counter, period, amount, lifetime } of reserved)
    connection.run(
      'insert into svc_budget_reservations (call, counter, period, amount, expires, owner, lease) values (?, ?, ?, ?, ' +
        "cast(unixepoch('subsec') * 1000 as integer) + ?, ?, cast(unixepoch('subsec') * 1000 as integer) + ?)",
      call,
      counter,
      period,
      amount,
      lifetime,
      owner,
      leaseDuration,
    );
  return exceeding;
}

const postgresqlNow = '(extract(epoch from clock_timestamp()) * 1000)::bigint';
const reserveOneSql = `with taken as (
    update svc_budget_counters set reserved = reserved + $3::bigint where counter = $1::text and period = $2::text and used + reserved + $3::bigint <= $4::bigint returning counter
  )
  insert into svc_budget_reservations (call, counter, period, amount, expires, owner, lease)
  select $5::text, $1::text, $2::text, $3::bigint, ${postgresqlNow} + $6::bigint, $7::text, ${postgresqlNow} + $8::bigint from taken`;

/** One call under one budget, by far the most frequent: a single statement. */
async function reserveOne(
  connection: PostgresqlConnection,
  { call, lifetime, request, owner }: Reservation & { readonly request: ReservationRequest; readonly owner: string },
): Promise<Division['exceeding']> {
  const { counter, period, amount, limit } = request;
  const values = [counter, period, amount, limit, call, lifetime, owner, leaseDuration];
  const { changes } = await connection.rows(reserveOneSql, values);
  return [changes === 0 ? request : null];
}

// Every transaction locks counters in the order of `sortCounters`.
const lockSql = `select counter, period, used + reserved from svc_budget_counters
  where (counter, period) in (select * from unnest($1::text[], $2::text[]))
  order by (counter || '|' || period) collate "C" for update`;
const addSql = `update svc_budget_counters as counters set reserved = reserved + added.amount
  from unnest($1::text[], $2::text[], $3::bigint[]) as added (counter, period, amount)
  where counters.counter = added.counter and counters.period = added.period`;
const insertSql = `insert into svc_budget_reservations (call, counter, period, amount, expires, owner, lease)
  select call, counter, period, amount, ${postgresqlNow} + lifetime, $6::text, ${postgresqlNow} + $7::bigint
  from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[]) as reserved (call, counter, period, amount, lifetime)`;

async function reserveInPostgresql(
  connection: PostgresqlConnection,
  reservations: readonly Reservation[],
  owner: string,
): Promise<Division['exceeding']> {
  const { rows } = await connection.rows(lockSql, columns(countersOf(reservations), 'counter', 'period'));
  const { exceeding, changed, reserved } = divide(reservations, rows.map(toCounter));
  if (reserved.length === 0) return exceeding;
  await connection.rows(addSql, columns(changed, 'counter', 'period', 'added'));
  const inserted = columns(reserved, 'call', 'counter', 'period', 'amount', 'lifetime');
  await connection.rows(insertSql, [...inserted, owner, leaseDuration]);
  return exceeding;
}

/** A column for each member, for `unnest`. */
function columns<Row extends object>(rows: readonly Row[], ...members: readonly (keyof Row)[]): unknown[][] {
  return members.map((member) => rows.map((row) => row[member]));
}
