import type { DatabaseApi, SqliteConnection } from '#plugin-api';
import { bodyStates, tables } from '../migrations.ts';
import { batchSize, leaseDuration, skewTolerance, temporaryEvents, toJob } from './store-contract.ts';
import type { ClaimRequest, Job, JobResult, Store } from './store-contract.ts';

const { events, deliveries, attempts, leases } = tables;
const now = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

/** The scheduled wait: after an attempt the one in its record, before the first one the wait it was stored with. */
const scheduledWait =
  "CASE WHEN log IS NULL THEN due_at - created_at ELSE COALESCE(CASE WHEN json_valid(log) THEN json_extract(log, '$.next') END, 0) END";

const columns = `d.id, d.uuid, d.attempts, d.run_start, d.target, d.body, e.id, e.uuid, e.name, e.key, e.body, e.needs_filter, d.order_key, e.body_state
  FROM ${deliveries} d LEFT JOIN ${events} e ON e.id = d.event_id`;
const isFirstOfKey = `AND (d.order_key IS NULL OR NOT EXISTS (SELECT 1 FROM ${deliveries} p
  WHERE p.endpoint_id = d.endpoint_id AND p.order_key = d.order_key AND p.due_at IS NOT NULL AND p.id < d.id))`;

const sql = {
  now: `SELECT ${now}`,
  addEvent: `INSERT INTO ${events} (uuid, name, key, created_at, body, needs_filter, context, body_state, user_id, session_id)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  addDelivery: `INSERT INTO ${deliveries} (uuid, event_id, endpoint_id, state, due_at, order_key, target, created_at, finished_at, failure, error)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  fresh: `SELECT ${columns} WHERE d.endpoint_id = ? AND d.due_at = 0 AND d.id > ? ORDER BY d.id LIMIT ?`,
  timed: `SELECT ${columns} WHERE d.endpoint_id = ? AND d.due_at > 0 AND d.due_at <= ? ORDER BY d.due_at, d.id LIMIT ?`,
  freshOrdered: `SELECT ${columns} WHERE d.endpoint_id = ? AND d.due_at = 0 AND d.id > ? ${isFirstOfKey} ORDER BY d.id LIMIT ?`,
  timedOrdered: `SELECT ${columns} WHERE d.endpoint_id = ? AND d.due_at > 0 AND d.due_at <= ? ${isFirstOfKey} ORDER BY d.due_at, d.id LIMIT ?`,
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
  /** The common case: delivered by a scheduled attempt. */
  deliver: `UPDATE ${deliveries} SET state = 'delivered', due_at = NULL, attempts = attempts + 1, finished_at = ?, http_status = ?, failure = NULL, error = NULL, duration = ?, log = ? WHERE id = ? AND due_at IS NOT NULL`,
  archiveAttempt: `INSERT OR REPLACE INTO ${attempts} (delivery_id, number, log) SELECT id, attempts, log FROM ${deliveries} WHERE id = ? AND log IS NOT NULL`,
  extend: `UPDATE ${leases} SET until = ? WHERE owner = ?`,
  expire: `DELETE FROM ${leases} WHERE until <= ? AND owner <> ?`,
  nextOpenEndpoint: `SELECT MIN(endpoint_id) FROM ${deliveries} WHERE due_at IS NOT NULL AND endpoint_id > ?`,
  saveBodyOverride: `UPDATE ${deliveries} SET body = ? WHERE id = ?`,
  own: `SELECT token FROM ${leases} WHERE owner = ?`,
  stored: `SELECT 1 FROM ${deliveries} WHERE uuid = ?`,
  shortenLeases: `UPDATE ${leases} SET until = ? WHERE until > ?`,
  shortenWaits: `UPDATE ${deliveries} SET due_at = ? + ${scheduledWait} WHERE endpoint_id = ? AND due_at > ? AND due_at > ? + ${scheduledWait} + ?`,
  deleteTemporaryBody: `UPDATE ${events} SET body = x'', context = NULL, body_state = ${String(bodyStates.notKept)}, body_deleted_at = ?
    WHERE id = ? AND body_state = ${String(bodyStates.temporary)} AND NOT EXISTS (SELECT 1 FROM ${deliveries} WHERE event_id = ${events}.id AND due_at IS NOT NULL)`,
  deleteBodyOverrides: `UPDATE ${deliveries} SET body = NULL WHERE event_id = ?`,
  context: `SELECT context FROM ${events} WHERE id = ?`,
  leasedNow: `SELECT j.value FROM ${leases} l, json_each(l.jobs) j`,
} as const;

type Row = readonly unknown[];

function readTime(connection: SqliteConnection): number {
  return connection.rows(sql.now)[0]?.[0] as number;
}

function writeResult(
  connection: SqliteConnection,
  time: number,
  { job, state, delay, attempted, exempt, status, failure, error, duration, log }: JobResult,
): void {
  if (attempted && job.attempts > 0) connection.run(sql.archiveAttempt, job.id);
  if (state === 'delivered' && attempted && !exempt && log !== null) {
    connection.run(sql.deliver, time, status, duration, log, job.id);
    return;
  }
  const due = state === 'pending' ? time + delay : null;
  connection.run(
    sql.finish,
    state,
    due,
    Number(attempted),
    Number(exempt && attempted),
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
 * SQLite has one writer, so one row of `leases` covers a batch of five jobs; its id is the fencing token. Other processes
 * read that table before they claim a job; this one keeps its leases in memory too. Jobs that are due at once (`due_at` 0)
 * are claimed from a watermark upwards, because this process has claimed all jobs below it.
 */
class SqliteStore implements Store {
  readonly isRemote = false;
  private readonly database: DatabaseApi;
  private readonly owner: string;
  /** Token of the lease, by job id. */
  private readonly held = new Map<number, number>();
  /** Jobs left in a lease, by token. */
  private readonly remaining = new Map<number, number>();
  /** Highest claimed id, by endpoint. */
  private readonly watermarks = new Map<string, number>();
  /** Restores the memory if the running transaction fails. */
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
        const time = readTime(connection);
        for (const event of added) {
          const { lastId } = connection.run(
            sql.addEvent,
            event.uuid,
            event.name,
            event.key,
            time,
            event.body,
            event.needsEnvelopeFilter ? 1 : 0,
            event.context,
            event.bodyState,
            event.userId,
            event.sessionId,
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

  readonly exchange: Store['exchange'] = ({ finished, released, claims }) =>
    this.change((connection) => {
      const time = readTime(connection);
      const tokens = new Map<number, boolean>();
      const holds = (token: number): boolean => {
        const known = tokens.get(token) ?? connection.rows(sql.holds, token, this.owner).length > 0;
        tokens.set(token, known);
        return known;
      };
      const stale: Job[] = [];
      for (const result of finished) {
        if (holds(result.job.token)) writeResult(connection, time, result);
        else stale.push(result.job);
      }
      for (const id of temporaryEvents(finished)) deleteTemporaryBody(connection, id, time);
      for (const { job } of finished) this.forget(connection, job);
      for (const job of released) {
        this.forget(connection, job);
        this.watermarks.delete(job.endpointId);
      }
      for (const job of stale) this.watermarks.delete(job.endpointId);
      const nextDueIn = new Map<string, number | null>();
      const jobs = claims.flatMap((claim) => {
        const rows = this.select(connection, claim, time);
        if (rows.length < Math.min(claim.limit ?? Infinity, claim.batches * batchSize)) {
          const next = connection.rows(sql.nextTimed, claim.endpointId, time)[0]?.[0] as number | null;
          nextDueIn.set(claim.endpointId, next === null ? null : next - time);
        }
        return this.lease(connection, rows, { time, endpointId: claim.endpointId });
      });
      return { jobs, stale, nextDueIn };
    });

  readonly claimByUuid: Store['claimByUuid'] = (uuids) =>
    this.change((connection) => {
      const time = readTime(connection);
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
      const time = readTime(connection);
      if (this.remaining.size > 0) connection.run(sql.extend, time + leaseDuration, this.owner);
      const { changes } = connection.run(sql.expire, time, this.owner);
      if (changes > 0) this.watermarks.clear();
      const lost = this.forgetLost(connection);
      return { freed: changes > 0, isLost: ({ token }: Job) => lost.has(token), time };
    });

  readonly correctClockSkew: Store['correctClockSkew'] = () =>
    this.run((connection) => {
      const time = readTime(connection);
      let { changes: shortened } = connection.run(sql.shortenLeases, time + leaseDuration, time + leaseDuration);
      for (const id of openEndpoints(connection))
        shortened += connection.run(sql.shortenWaits, time, id, time, time, skewTolerance).changes;
      return shortened;
    });

  readonly openEndpoints: Store['openEndpoints'] = () => this.run(openEndpoints);

  readonly saveBodyOverride: Store['saveBodyOverride'] = (job, body) =>
    this.run(
      (connection) =>
        connection.rows(sql.holds, job.token, this.owner).length > 0 &&
        connection.run(sql.saveBodyOverride, body, job.id).changes > 0,
    );

  readonly readContext: Store['readContext'] = (eventId) =>
    this.run((connection) => (connection.rows(sql.context, eventId)[0]?.[0] ?? null) as string | null);

  readonly findLeased: Store['findLeased'] = async () =>
    this.run((connection) => new Set(connection.rows(sql.leasedNow).map(([id]) => id as number)));

  private run<Result>(work: (connection: SqliteConnection) => Result, init = {}): Promise<Result> {
    return this.database.direct<Result>(
      { sqlite: work, postgresql: () => Promise.reject(new Error('This store is for SQLite.')) },
      init,
    );
  }

  /** Drops the job from memory; the lease ends with the last job of its batch. */
  private forget(connection: SqliteConnection, job: Job): void {
    const { id, token } = job;
    const isHeld = this.held.get(id) === token;
    if (isHeld) this.held.delete(id);
    const count = (this.remaining.get(token) ?? 1) - 1;
    this.onFailure.push(() => {
      if (isHeld) this.held.set(id, token);
      this.remaining.set(token, (this.remaining.get(token) ?? 0) + 1);
    });
    this.remaining.set(token, count);
    if (count > 0) return;
    this.remaining.delete(token);
    connection.run(sql.endLease, token, this.owner);
  }

  private select(connection: SqliteConnection, { endpointId, batches, limit }: ClaimRequest, time: number): Row[] {
    // Read from the jobs: the process that stored them may know newer settings.
    const ordered = connection.rows(sql.anyOrdered, endpointId).length > 0;
    const wanted = Math.min(limit ?? Infinity, batches * batchSize);
    const foreign =
      connection.rows(sql.anyForeign, this.owner).length === 0
        ? null
        : new Set(connection.rows(sql.foreign, this.owner).map(([id]) => id));
    const isAvailable = ([id]: Row): boolean => !this.held.has(id as number) && foreign?.has(id) !== true;
    const slack = wanted + this.held.size + (foreign?.size ?? 0);
    const timed = connection
      .rows(ordered ? sql.timedOrdered : sql.timed, endpointId, time, slack)
      .filter(isAvailable)
      .slice(0, wanted);
    if (timed.length === wanted) return timed;
    // Held jobs come first among those of an ordered endpoint, and lie below the watermark of any other.
    const watermark = ordered ? 0 : (this.watermarks.get(endpointId) ?? 0);
    const all = connection.rows(
      ordered ? sql.freshOrdered : sql.fresh,
      endpointId,
      watermark,
      watermark === 0 || foreign ? slack : wanted - timed.length,
    );
    const fresh = all.filter(isAvailable).slice(0, wanted - timed.length);
    const last = fresh.at(-1)?.[0];
    // Another process may lose its lease: the jobs of that lease must not end up below the watermark.
    if (last !== undefined && foreign === null) {
      this.watermarks.set(endpointId, Math.max(watermark, last as number));
      this.onFailure.push(() => void this.watermarks.delete(endpointId));
    }
    return [...timed, ...fresh];
  }

  /** One lease per batch. */
  private lease(
    connection: SqliteConnection,
    rows: readonly Row[],
    { time, endpointId }: { readonly time: number; readonly endpointId: string },
  ): Job[] {
    const jobs: Job[] = [];
    for (let start = 0; start < rows.length; start += batchSize) {
      const batch = rows.slice(start, start + batchSize);
      const { lastId: token } = connection.run(
        sql.lease,
        this.owner,
        time + leaseDuration,
        `[${batch.map(([id]) => String(id)).join(',')}]`,
      );
      this.remaining.set(token, batch.length);
      this.onFailure.push(() => {
        this.remaining.delete(token);
        for (const [id] of batch) this.held.delete(id as number);
      });
      for (const row of batch) {
        this.held.set(row[0] as number, token);
        jobs.push(toJob(row, { endpointId, token }));
      }
    }
    return jobs;
  }

  /** Changes memory and database together, or neither; the commit may fail too. */
  private async change<Result>(work: (connection: SqliteConnection) => Result): Promise<Result> {
    let undos: (() => void)[] = [];
    const revert = (): void => {
      for (const undo of undos.reverse()) undo();
      undos = [];
    };
    try {
      return await this.run((connection) => {
        revert();
        this.onFailure = undos;
        return work(connection);
      });
    } catch (error) {
      revert();
      throw error;
    }
  }

  /** Forgets leases that another process released as expired. Returns their tokens. */
  private forgetLost(connection: SqliteConnection): ReadonlySet<number> {
    const own = new Set(connection.rows(sql.own, this.owner).map(([token]) => token));
    const lost = new Set([...this.remaining.keys()].filter((token) => !own.has(token)));
    if (lost.size === 0) return lost;
    for (const token of lost) this.remaining.delete(token);
    for (const [id, token] of this.held) if (lost.has(token)) this.held.delete(id);
    this.watermarks.clear();
    return lost;
  }
}

/** @param owner unique per process. */
export function createSqliteStore(database: DatabaseApi, owner: string): Store {
  return new SqliteStore(database, owner);
}

/** In the transaction that stored the result of the last delivery of the event. */
function deleteTemporaryBody(connection: SqliteConnection, eventId: number, time: number): void {
  if (connection.run(sql.deleteTemporaryBody, time, eventId).changes > 0)
    connection.run(sql.deleteBodyOverrides, eventId);
}

function openEndpoints(connection: SqliteConnection): string[] {
  const found: string[] = [];
  for (let last = ''; ; last = found.at(-1) ?? '') {
    const next = connection.rows(sql.nextOpenEndpoint, last)[0]?.[0];
    if (typeof next !== 'string') return found;
    found.push(next);
  }
}
