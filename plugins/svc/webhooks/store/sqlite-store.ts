import type { DatabaseApi, SqliteConnection } from '#plugin-api';
import { tables } from '../migrations.ts';
import {
  leaseTime,
  mendSlack,
  passSize,
  type ClaimRequest,
  type Finish,
  type Job,
  type Store,
} from './store-contract.ts';

const { events, deliveries, attempts, leases } = tables;
const now = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

/** The wait that the last attempt ended with; before the first one, the wait that the job was stored with. */
const meant =
  "CASE WHEN log IS NULL THEN due_at - created_at ELSE COALESCE(CASE WHEN json_valid(log) THEN json_extract(log, '$.next') END, 0) END";

const columns = `d.id, d.uuid, d.attempts, d.run_start, d.target, d.body, e.id, e.uuid, e.name, e.key, e.body, e.unfiltered, d.order_key
  FROM ${deliveries} d LEFT JOIN ${events} e ON e.id = d.event_id`;
const notBehind = `AND (d.order_key IS NULL OR NOT EXISTS (SELECT 1 FROM ${deliveries} p
  WHERE p.endpoint_id = d.endpoint_id AND p.order_key = d.order_key AND p.due_at IS NOT NULL AND p.id < d.id))`;

const sql = {
  now: `SELECT ${now}`,
  addEvent: `INSERT INTO ${events} (uuid, name, key, created_at, body, unfiltered, context) VALUES (?, ?, ?, ?, ?, ?, ?)`,
  addDelivery: `INSERT INTO ${deliveries} (uuid, event_id, endpoint_id, state, due_at, order_key, target, created_at, finished_at, failure, error)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  fresh: `SELECT ${columns} WHERE d.endpoint_id = ? AND d.due_at = 0 AND d.id > ? ORDER BY d.id LIMIT ?`,
  timed: `SELECT ${columns} WHERE d.endpoint_id = ? AND d.due_at > 0 AND d.due_at <= ? ORDER BY d.due_at, d.id LIMIT ?`,
  freshOrdered: `SELECT ${columns} WHERE d.endpoint_id = ? AND d.due_at = 0 AND d.id > ? ${notBehind} ORDER BY d.id LIMIT ?`,
  timedOrdered: `SELECT ${columns} WHERE d.endpoint_id = ? AND d.due_at > 0 AND d.due_at <= ? ${notBehind} ORDER BY d.due_at, d.id LIMIT ?`,
  anyOrdered: `SELECT 1 FROM ${deliveries} INDEXED BY ${deliveries}_order WHERE endpoint_id = ? AND order_key IS NOT NULL AND due_at IS NOT NULL LIMIT 1`,
  nextTimed: `SELECT MIN(due_at) FROM ${deliveries} WHERE endpoint_id = ? AND due_at > ?`,
  oneOpen: `SELECT ${columns} WHERE d.uuid = ? AND d.due_at IS NOT NULL`,
  lease: `INSERT INTO ${leases} (owner, until, jobs) VALUES (?, ?, ?)`,
  holds: `SELECT 1 FROM ${leases} WHERE token = ? AND owner = ?`,
  endLease: `DELETE FROM ${leases} WHERE token = ? AND owner = ?`,
  foreign: `SELECT j.value FROM ${leases} l, json_each(l.jobs) j WHERE l.owner <> ?`,
  anyForeign: `SELECT 1 FROM ${leases} WHERE owner <> ? LIMIT 1`,
  finish: `UPDATE ${deliveries} SET state = ?, due_at = ?, attempts = attempts + ?, run_start = run_start + ?, finished_at = ?, http_status = ?, failure = ?, error = ?, duration = ?, log = COALESCE(?, log)
    WHERE id = ? AND due_at IS NOT NULL`,
  /** The usual end of a job, of which little has to be said. */
  deliver: `UPDATE ${deliveries} SET state = 'delivered', due_at = NULL, attempts = attempts + 1, finished_at = ?, http_status = ?, failure = NULL, error = NULL, duration = ?, log = ? WHERE id = ? AND due_at IS NOT NULL`,
  keepAttempt: `INSERT OR REPLACE INTO ${attempts} (delivery_id, number, log) SELECT id, attempts, log FROM ${deliveries} WHERE id = ? AND log IS NOT NULL`,
  extend: `UPDATE ${leases} SET until = ? WHERE owner = ?`,
  expire: `DELETE FROM ${leases} WHERE until <= ? AND owner <> ?`,
  firstOpen: `SELECT MIN(endpoint_id) FROM ${deliveries} WHERE due_at IS NOT NULL AND endpoint_id > ?`,
  keepBody: `UPDATE ${deliveries} SET body = ? WHERE id = ?`,
  own: `SELECT token FROM ${leases} WHERE owner = ?`,
  stored: `SELECT 1 FROM ${deliveries} WHERE uuid = ?`,
  mendLeases: `UPDATE ${leases} SET until = ? WHERE until > ?`,
  mendWaits: `UPDATE ${deliveries} SET due_at = ? + ${meant} WHERE endpoint_id = ? AND due_at > ? AND due_at > ? + ${meant} + ?`,
  context: `SELECT context FROM ${events} WHERE id = ?`,
  leasedNow: `SELECT j.value FROM ${leases} l, json_each(l.jobs) j`,
} as const;

type Row = readonly unknown[];

function timeOf(connection: SqliteConnection): number {
  return connection.rows(sql.now)[0]?.[0] as number;
}

function toJob(row: Row, endpointId: string, token: number): Job {
  const [id, uuid, made, runStart, target, ownBody, eventId, eventUuid, name, key, body, unfiltered, orderKey] = row;
  const event =
    eventId === null
      ? null
      : {
          id: eventId as number,
          uuid: eventUuid as string,
          name: name as string,
          key: key as string,
          body: body as Buffer,
          unfiltered: unfiltered === 1,
        };
  return {
    id: id as number,
    uuid: uuid as string,
    endpointId,
    token,
    attempts: made as number,
    runStart: runStart as number,
    target: target as string | null,
    orderKey: orderKey as string | null,
    ownBody: ownBody as Buffer | null,
    event,
  };
}

function finish(
  connection: SqliteConnection,
  time: number,
  { job, state, delay, made, free, status, failure, error, duration, log }: Finish,
): void {
  if (made === 1 && job.attempts > 0) connection.run(sql.keepAttempt, job.id);
  if (state === 'delivered' && made === 1 && !free && log !== null) {
    connection.run(sql.deliver, time, status, duration, log, job.id);
    return;
  }
  const due = state === 'pending' ? time + delay : null;
  connection.run(
    sql.finish,
    state,
    due,
    made,
    free ? made : 0,
    due === null ? time : null,
    status,
    failure,
    error,
    duration,
    log,
    job.id,
  );
}

/**
 * SQLite has one writer, so a lease need not be written into each job: a pass of five jobs is one row of `leases`, whose
 * id is the fencing token. Other processes look there before they take a job; this one remembers what it holds.
 * Jobs that are due at once (`due_at` 0) are claimed from a mark upwards: what is below it, this process has seen.
 */
class SqliteStore implements Store {
  readonly isElsewhere = false;
  private readonly database: DatabaseApi;
  private readonly owner: string;
  /** By id, the token it is held under. */
  private readonly held = new Map<number, number>();
  private readonly leftOf = new Map<number, number>();
  private readonly marks = new Map<string, number>();
  /** What has to be remembered otherwise when the running transaction comes to nothing. */
  private onFailure: (() => void)[] = [];

  constructor(database: DatabaseApi, owner: string) {
    this.database = database;
    this.owner = owner;
  }

  readonly add: Store['add'] = (added, { transaction, durable, again }) =>
    this.run(
      (connection) => {
        const first = added[0]?.deliveries[0];
        if (again && first && connection.rows(sql.stored, first.uuid).length > 0) return;
        const time = timeOf(connection);
        for (const event of added) {
          const { lastId } = connection.run(
            sql.addEvent,
            event.uuid,
            event.name,
            event.key,
            time,
            event.body,
            event.unfiltered ? 1 : 0,
            event.context,
          );
          for (const { uuid, endpointId, orderKey, target, failed, wait } of event.deliveries) {
            connection.run(
              sql.addDelivery,
              uuid,
              lastId,
              endpointId,
              failed ? 'failed' : 'pending',
              failed ? null : wait > 0 ? time + wait : 0,
              orderKey,
              target,
              time,
              failed ? time : null,
              failed?.failure ?? null,
              failed?.error ?? null,
            );
          }
        }
      },
      { durable, ...(transaction && { transaction }) },
    );

  readonly turn: Store['turn'] = ({ finished, released, claims }) =>
    this.change((connection) => {
      const time = timeOf(connection);
      const tokens = new Map<number, boolean>();
      const holds = (token: number): boolean => {
        const known = tokens.get(token) ?? connection.rows(sql.holds, token, this.owner).length > 0;
        tokens.set(token, known);
        return known;
      };
      const stale: Job[] = [];
      for (const outcome of finished) {
        if (holds(outcome.job.token)) finish(connection, time, outcome);
        else stale.push(outcome.job);
      }
      for (const { job } of finished) this.letGo(connection, job);
      for (const job of released) {
        this.letGo(connection, job);
        this.marks.delete(job.endpointId);
      }
      for (const job of stale) this.marks.delete(job.endpointId);
      const idle = new Map<string, number | null>();
      const jobs = claims.flatMap((claim) => {
        const rows = this.select(connection, claim, time);
        if (rows.length < Math.min(claim.most ?? Infinity, claim.passes * passSize)) {
          const next = connection.rows(sql.nextTimed, claim.endpointId, time)[0]?.[0] as number | null;
          idle.set(claim.endpointId, next === null ? null : next - time);
        }
        return this.lease(connection, rows, { time, endpointId: claim.endpointId });
      });
      return { jobs, stale, idle };
    });

  readonly claimThese: Store['claimThese'] = (uuids) =>
    this.change((connection) => {
      const time = timeOf(connection);
      const foreign = new Set(connection.rows(sql.foreign, this.owner).map(([id]) => id));
      return uuids.flatMap((uuid) => {
        const rows = connection
          .rows(sql.oneOpen, uuid)
          .filter(([id]) => !this.held.has(id as number) && !foreign.has(id));
        if (rows.length === 0) return [];
        const endpointId = connection.rows(
          `SELECT endpoint_id FROM ${deliveries} WHERE uuid = ?`,
          uuid,
        )[0]?.[0] as string;
        return this.lease(connection, rows, { time, endpointId });
      });
    });

  readonly heartbeat: Store['heartbeat'] = () =>
    this.run((connection) => {
      const time = timeOf(connection);
      if (this.leftOf.size > 0) connection.run(sql.extend, time + leaseTime, this.owner);
      const { changes } = connection.run(sql.expire, time, this.owner);
      if (changes > 0) this.marks.clear();
      const lost = this.forgetLost(connection);
      return { freed: changes > 0, isLost: ({ token }: Job) => lost.has(token), time };
    });

  readonly mendTimes: Store['mendTimes'] = () =>
    this.run((connection) => {
      const time = timeOf(connection);
      let { changes: mended } = connection.run(sql.mendLeases, time + leaseTime, time + leaseTime);
      for (const id of openEndpoints(connection))
        mended += connection.run(sql.mendWaits, time, id, time, time, mendSlack).changes;
      return mended;
    });

  readonly openEndpoints: Store['openEndpoints'] = () => this.run(openEndpoints);

  readonly keepBody: Store['keepBody'] = (job, body) =>
    this.run(
      (connection) =>
        connection.rows(sql.holds, job.token, this.owner).length > 0 &&
        connection.run(sql.keepBody, body, job.id).changes > 0,
    );

  readonly contextOf: Store['contextOf'] = (eventId) =>
    this.run((connection) => (connection.rows(sql.context, eventId)[0]?.[0] ?? null) as string | null);

  readonly leased: Store['leased'] = async () =>
    this.run((connection) => new Set(connection.rows(sql.leasedNow).map(([id]) => id as number)));

  private run<Result>(work: (connection: SqliteConnection) => Result, init = {}): Promise<Result> {
    return this.database.direct<Result>(
      { sqlite: work, postgresql: () => Promise.reject(new Error('This store is for SQLite.')) },
      init,
    );
  }

  /** Drops the jobs from memory; their lease ends with the last one of the pass. */
  private letGo(connection: SqliteConnection, job: Job): void {
    const { id, token } = job;
    const isHeld = this.held.get(id) === token;
    if (isHeld) this.held.delete(id);
    const left = (this.leftOf.get(token) ?? 1) - 1;
    this.onFailure.push(() => {
      if (isHeld) this.held.set(id, token);
      this.leftOf.set(token, (this.leftOf.get(token) ?? 0) + 1);
    });
    this.leftOf.set(token, left);
    if (left > 0) return;
    this.leftOf.delete(token);
    connection.run(sql.endLease, token, this.owner);
  }

  private select(connection: SqliteConnection, { endpointId, passes, most }: ClaimRequest, time: number): Row[] {
    // The jobs themselves say it: whoever stored them may know settings that this process does not know yet.
    const ordered = connection.rows(sql.anyOrdered, endpointId).length > 0;
    const wanted = Math.min(most ?? Infinity, passes * passSize);
    const foreign =
      connection.rows(sql.anyForeign, this.owner).length === 0
        ? null
        : new Set(connection.rows(sql.foreign, this.owner).map(([id]) => id));
    const isFree = ([id]: Row): boolean => !this.held.has(id as number) && foreign?.has(id) !== true;
    const slack = wanted + this.held.size + (foreign?.size ?? 0);
    const timed = connection
      .rows(ordered ? sql.timedOrdered : sql.timed, endpointId, time, slack)
      .filter(isFree)
      .slice(0, wanted);
    if (timed.length === wanted) return timed;
    // Held ones stand at the beginning of what an ordered endpoint may have, and below the mark of any other.
    const mark = ordered ? 0 : (this.marks.get(endpointId) ?? 0);
    const all = connection.rows(
      ordered ? sql.freshOrdered : sql.fresh,
      endpointId,
      mark,
      mark === 0 || foreign ? slack : wanted - timed.length,
    );
    const fresh = all.filter(isFree).slice(0, wanted - timed.length);
    const last = fresh.at(-1)?.[0];
    // A lease that is not ours may end: what it covers must not fall below the mark.
    if (last !== undefined && foreign === null) {
      this.marks.set(endpointId, Math.max(mark, last as number));
      this.onFailure.push(() => void this.marks.delete(endpointId));
    }
    return [...timed, ...fresh];
  }

  /** One lease for each five. */
  private lease(
    connection: SqliteConnection,
    rows: readonly Row[],
    { time, endpointId }: { readonly time: number; readonly endpointId: string },
  ): Job[] {
    const jobs: Job[] = [];
    for (let start = 0; start < rows.length; start += passSize) {
      const pass = rows.slice(start, start + passSize);
      const { lastId: token } = connection.run(
        sql.lease,
        this.owner,
        time + leaseTime,
        `[${pass.map(([id]) => String(id)).join(',')}]`,
      );
      this.leftOf.set(token, pass.length);
      this.onFailure.push(() => {
        this.leftOf.delete(token);
        for (const [id] of pass) this.held.delete(id as number);
      });
      for (const row of pass) {
        this.held.set(row[0] as number, token);
        jobs.push(toJob(row, endpointId, token));
      }
    }
    return jobs;
  }

  /** Memory and database change together or not at all: the commit may fail too. */
  private async change<Result>(work: (connection: SqliteConnection) => Result): Promise<Result> {
    let mine: (() => void)[] = [];
    const revert = (): void => {
      for (const back of mine.reverse()) back();
      mine = [];
    };
    try {
      return await this.run((connection) => {
        revert();
        this.onFailure = mine;
        return work(connection);
      });
    } catch (error) {
      revert();
      throw error;
    }
  }

  /** Leases that another process has taken for dead. */
  private forgetLost(connection: SqliteConnection): ReadonlySet<number> {
    const own = new Set(connection.rows(sql.own, this.owner).map(([token]) => token));
    const lost = new Set([...this.leftOf.keys()].filter((token) => !own.has(token)));
    if (lost.size === 0) return lost;
    for (const token of lost) this.leftOf.delete(token);
    for (const [id, token] of this.held) if (lost.has(token)) this.held.delete(id);
    this.marks.clear();
    return lost;
  }
}

/** @param owner different for every process. */
export function createSqliteStore(database: DatabaseApi, owner: string): Store {
  return new SqliteStore(database, owner);
}

function openEndpoints(connection: SqliteConnection): string[] {
  const found: string[] = [];
  for (let last = ''; ; last = found.at(-1) ?? '') {
    const next = connection.rows(sql.firstOpen, last)[0]?.[0];
    if (typeof next !== 'string') return found;
    found.push(next);
  }
}
