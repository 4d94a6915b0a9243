import type { DatabaseApi, PostgresqlConnection } from '#plugin-api';
import { tables } from '../migrations.ts';
import { joinedJson, jsonArray, numberArray, textArray } from './postgresql-arrays.ts';
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
const now = '(extract(epoch from statement_timestamp()) * 1000)::bigint';

/** The wait that the last attempt ended with, at the end of its record; before the first one, the wait that the job was stored with. */
const meant = `CASE WHEN log IS NULL THEN due_at - created_at ELSE COALESCE(substring(log from '"next":([0-9]{1,15})[}]$')::bigint, 0) END`;

const notBehind = `AND (d.order_key IS NULL OR NOT EXISTS (SELECT 1 FROM ${deliveries} p
  WHERE p.endpoint_id = d.endpoint_id AND p.order_key = d.order_key AND p.due_at IS NOT NULL AND p.id < d.id))`;
/** A transaction that is not waited for until it is on the disk. What a crash of the server takes back of it is an outcome; leases go with any crash: the job is sent again under the same ids (contract 6.7). */
const unhurried = "(SELECT set_config('synchronous_commit', 'off', true)) = 'off'";

/**
 * Leases the picked jobs. Another node that picked the same ones before their leases were there to be seen is kept out by the key of the leases.
 * The planner cannot know how few or many they are: joined with them, it would read all events, or go through all that was taken for each that was picked. Each event is sought
 * by its own id (behind `OFFSET 0`, which keeps the two from being joined), and what was taken becomes a table of hashes (`IS TRUE` keeps it from becoming a join).
 */
const lease = (picked: string): string => `WITH picked AS MATERIALIZED (${picked}), taken AS (
    INSERT INTO ${leases} (delivery_id, owner, token, until) SELECT id, $1, $2::bigint, ${now} + ${String(leaseTime)} FROM picked WHERE ${unhurried} ON CONFLICT DO NOTHING RETURNING delivery_id)
  SELECT p.id, p.uuid, p.attempts, p.run_start, p.target, p.body, e.id, e.uuid, e.name, e.key, convert_from(e.body, 'UTF8'), e.unfiltered, p.endpoint_id, p.order_key
  FROM picked p LEFT JOIN LATERAL (SELECT * FROM ${events} e WHERE e.id = p.event_id OFFSET 0) e ON true WHERE (p.id IN (SELECT delivery_id FROM taken)) IS TRUE`;

const job = 'd.id, d.uuid, d.attempts, d.run_start, d.target, d.body, d.event_id, d.endpoint_id, d.order_key';
const free = `NOT EXISTS (SELECT 1 FROM ${leases} l WHERE l.delivery_id = d.id)`;
const due = `SELECT ${job} FROM ${deliveries} d WHERE d.endpoint_id = w.endpoint_id`;
const open = `AND ${free} ${notBehind}`;
/** What was put off and is due now comes before what is due at once: it is older, and would never have its turn while more comes in. Two seeks, the second only where there is room left.
 * Of JSON the planner expects as many rows whether it sees it or not, so that it keeps its plan; of arrays it would make a new one for every claim. */
const pick = `SELECT p.* FROM json_to_recordset($3::json) AS w(endpoint_id text, n int) CROSS JOIN LATERAL (
  SELECT b.* FROM (
    SELECT * FROM (${due} AND d.due_at > 0 AND d.due_at <= ${now} ${open} ORDER BY d.due_at, d.id LIMIT w.n FOR UPDATE OF d SKIP LOCKED) late
    UNION ALL SELECT * FROM (${due} AND d.due_at = 0 ${open} ORDER BY d.id LIMIT w.n FOR UPDATE OF d SKIP LOCKED) fresh) b LIMIT w.n) p`;

/** Arrays side by side. The planner takes them for the thousand rows of a series, not for ten: joined with few rows sought by id, it makes a table of them instead of going through all for each. */
const rowsOf = (first: string, ...others: readonly string[]): string =>
  `ROWS FROM (${[first, ...others].map((array) => `unnest(${array})`).join(', ')}, generate_series(1, cardinality(${first})))`;

/**
 * The element of an array that stands where the delivery's id stands among the ids of the statement: no join, of which the planner would think at every call.
 * The ids are in ascending order, so that their place is found by halves; `array_position` would go through them for every value of every row.
 */
const ofThis = (array: string, id = 'd.id'): string => `(${array})[width_bucket(${id}, $1::bigint[])]`;

/** Ends the leases with the ids $1 and tokens $2, of which the statement that follows says what came of them. Whoever claims locks the delivery first and looks at its lease then, and so does this. */
const ending = (
  owner: string,
): string => `WITH open AS MATERIALIZED (SELECT d.id FROM ${deliveries} d WHERE d.id = ANY ($1::bigint[]) AND d.due_at IS NOT NULL ORDER BY d.id FOR UPDATE), ended AS MATERIALIZED (
    DELETE FROM ${leases} l WHERE l.delivery_id = ANY (ARRAY(SELECT id FROM open)) AND l.owner = ${owner} AND l.token = ${ofThis('$2::bigint[]', 'l.delivery_id')} AND ${unhurried} RETURNING l.delivery_id)`;
const wasEnded = 'd.id = ANY (ARRAY(SELECT delivery_id FROM ended))';

const sql = {
  add: `WITH ev AS (INSERT INTO ${events} (uuid, name, key, created_at, body, unfiltered, context)
      SELECT u, n, k, ${now}, convert_to(b, 'UTF8'), f, c FROM unnest($1::text[], $2::text[], $3::text[], ${jsonArray('$4')}, $5::int[], $14::text[]) AS i(u, n, k, b, f, c) RETURNING id, uuid)
    INSERT INTO ${deliveries} (uuid, event_id, endpoint_id, state, due_at, order_key, target, created_at, finished_at, failure, error)
      SELECT i.u, ev.id, i.ep, CASE WHEN i.fail IS NULL THEN 'pending' ELSE 'failed' END, CASE WHEN i.fail IS NULL THEN CASE WHEN i.wait > 0 THEN ${now} + i.wait ELSE 0 END END, i.ord, i.t, ${now},
        CASE WHEN i.fail IS NOT NULL THEN ${now} END, i.fail, i.err
      FROM unnest($6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::bigint[]) WITH ORDINALITY AS i(ev, u, ep, ord, t, fail, err, wait, n)
      JOIN ev ON ev.uuid = i.ev ORDER BY i.n`,
  claim: lease(pick),
  claimThese: lease(
    `SELECT ${job} FROM ${deliveries} d WHERE d.uuid = ANY($3::text[]) AND d.due_at IS NOT NULL AND ${free} FOR UPDATE OF d SKIP LOCKED`,
  ),
  next: `SELECT w.id, (SELECT min(d.due_at) FROM ${deliveries} d WHERE d.endpoint_id = w.id AND d.due_at > ${now}) - ${now} FROM unnest($1::text[]) AS w(id)`,
  /** The rows as they were, whose last attempt moves into the table of attempts. */
  keepAttempts: `INSERT INTO ${attempts} (delivery_id, number, log) SELECT d.id, d.attempts, d.log FROM ${deliveries} d JOIN ${leases} l ON l.delivery_id = d.id
    WHERE d.id = ANY ($1::bigint[]) AND l.owner = $3 AND l.token = ${ofThis('$2::bigint[]')} AND d.log IS NOT NULL AND d.due_at IS NOT NULL ON CONFLICT DO NOTHING`,
  finish: `${ending('$12')}
    UPDATE ${deliveries} d SET state = i.state, due_at = CASE WHEN i.state = 'pending' THEN ${now} + i.delay END, owner = $12, token = i.token, attempts = d.attempts + i.made,
      run_start = d.run_start + i.free, finished_at = CASE WHEN i.state <> 'pending' THEN ${now} END, http_status = i.status, failure = i.failure, error = i.error, duration = i.duration, log = COALESCE(NULLIF(i.log, ''), d.log)
    FROM ${rowsOf('$1::bigint[]', '$2::bigint[]', '$3::text[]', '$4::bigint[]', '$5::int[]', '$6::int[]', '$7::int[]', '$8::text[]', '$9::text[]', '$10::int[]', jsonArray('$11'))}
      AS i(id, token, state, delay, made, free, status, failure, error, duration, log)
    WHERE d.id = i.id AND ${wasEnded} RETURNING d.id`,
  /** The usual end of a job, of which little has to be said. */
  deliver: `${ending('$6')}, logs AS MATERIALIZED (SELECT ${jsonArray('$5')} AS list)
    UPDATE ${deliveries} d SET state = 'delivered', due_at = NULL, owner = $6, token = ${ofThis('$2::bigint[]')}, attempts = d.attempts + 1, finished_at = ${now},
      http_status = ${ofThis('$3::int[]')}, failure = NULL, error = NULL, duration = ${ofThis('$4::int[]')}, log = ${ofThis('logs.list')}
    FROM logs WHERE ${wasEnded} RETURNING d.id`,
  /** Of those that were not written: what this process wrote before, without hearing of it. */
  writtenBefore: `SELECT d.id FROM ${deliveries} d WHERE d.id = ANY ($1::bigint[]) AND d.owner = $3 AND d.token = ${ofThis('$2::bigint[]')}`,
  release: `DELETE FROM ${leases} l USING ${rowsOf('$1::bigint[]', '$2::bigint[]')} AS i(id, token) WHERE l.delivery_id = i.id AND l.token = i.token AND l.owner = $3 AND l.delivery_id = ANY ($1::bigint[])`,
  extend: `UPDATE ${leases} l SET until = ${now} + ${String(leaseTime)} FROM ${rowsOf('$1::bigint[]', '$2::bigint[]')} AS i(id, token)
    WHERE l.delivery_id = i.id AND l.token = i.token AND l.owner = $3 AND l.delivery_id = ANY ($1::bigint[]) RETURNING l.delivery_id`,
  expire: `DELETE FROM ${leases} WHERE until <= ${now}`,
  leased: `SELECT delivery_id FROM ${leases} WHERE delivery_id = ANY ($1::bigint[])`,
  time: `SELECT ${now}`,
  stored: `SELECT 1 FROM ${deliveries} WHERE uuid = $1`,
  mendLeases: `UPDATE ${leases} SET until = ${now} + ${String(leaseTime)} WHERE until > ${now} + ${String(leaseTime)}`,
  mendWaits: `UPDATE ${deliveries} SET due_at = ${now} + ${meant} WHERE endpoint_id = ANY($1::text[]) AND due_at > ${now} AND due_at > ${now} + ${meant} + ${String(mendSlack)}`,
  firstOpen: `WITH RECURSIVE open AS (
      (SELECT endpoint_id FROM ${deliveries} WHERE due_at IS NOT NULL ORDER BY endpoint_id LIMIT 1)
      UNION ALL SELECT (SELECT d.endpoint_id FROM ${deliveries} d WHERE d.due_at IS NOT NULL AND d.endpoint_id > open.endpoint_id ORDER BY d.endpoint_id LIMIT 1) FROM open WHERE open.endpoint_id IS NOT NULL)
    SELECT endpoint_id FROM open WHERE endpoint_id IS NOT NULL`,
  context: `SELECT context FROM ${events} WHERE id = $1`,
  keepBody: `UPDATE ${deliveries} SET body = $1 WHERE id = $2 AND EXISTS (SELECT 1 FROM ${leases} WHERE delivery_id = $2 AND token = $3 AND owner = $4)`,
} as const;

type Row = readonly unknown[];

/** Jobs of one statement: of texts an array is gone through for each of its elements, which for hundreds takes longer than another statement. */
const mostDelivered = 128;

/** Delivered by an attempt of its schedule. */
const isUsual = ({ state, made, free, log }: Finish): boolean =>
  state === 'delivered' && made === 1 && !free && log !== null;

const leasesOf = (outcomes: readonly Pick<Finish, 'job'>[]): [string, string] => [
  numberArray(outcomes.map(({ job }) => job.id)),
  numberArray(outcomes.map(({ job }) => job.token)),
];

function finishValues(outcomes: readonly Finish[]): string[] {
  const numbers = (pickValue: (outcome: Finish) => number | null): string => numberArray(outcomes.map(pickValue));
  const texts = (pickValue: (outcome: Finish) => string | null): string => textArray(outcomes.map(pickValue));
  return [
    ...leasesOf(outcomes),
    texts(({ state }) => state),
    numbers(({ delay }) => Math.round(delay)),
    numbers(({ made }) => made),
    numbers(({ free, made }) => (free ? made : 0)),
    numbers(({ status }) => status),
    texts(({ failure }) => failure),
    texts(({ error }) => error),
    numbers(({ duration }) => duration),
    joinedJson(outcomes.map(({ log }) => log)),
  ];
}

function byId(jobs: readonly Job[]): Job[] {
  return [...jobs].sort((left, right) => left.id - right.id);
}

/**
 * PostgreSQL: a lease is a row of `leases`, whose key is the job, under the number that the claim has in this process. It is short and not
 * logged: written into the job, it would cost the job's row and all of its indexes anew, at the claim and in the log of the server.
 * A job whose owner is gone is free when anybody's heartbeat has swept its lease.
 */
class PostgresqlStore implements Store {
  readonly isElsewhere = true;
  private readonly database: DatabaseApi;
  private readonly owner: string;
  /** By id, the token it is held under. */
  private readonly held = new Map<number, number>();
  private claims = 0;

  constructor(database: DatabaseApi, owner: string) {
    this.database = database;
    this.owner = owner;
  }

  readonly add: Store['add'] = async (added, { transaction, again }) => {
    const first = added[0]?.deliveries[0];
    if (again && first && (await this.query(sql.stored, [first.uuid])).rows.length > 0) return;
    const flat = added.flatMap((event) => event.deliveries.map((delivery) => ({ event: event.uuid, ...delivery })));
    const values = [
      textArray(added.map(({ uuid }) => uuid)),
      textArray(added.map(({ name }) => name)),
      textArray(added.map(({ key }) => key)),
      joinedJson(added.map(({ body }) => body.toString())),
      numberArray(added.map(({ unfiltered }) => (unfiltered ? 1 : 0))),
      textArray(flat.map(({ event }) => event)),
      textArray(flat.map(({ uuid }) => uuid)),
      textArray(flat.map(({ endpointId }) => endpointId)),
      textArray(flat.map(({ orderKey }) => orderKey)),
      textArray(flat.map(({ target }) => target)),
      textArray(flat.map(({ failed }) => failed?.failure ?? null)),
      textArray(flat.map(({ failed }) => failed?.error ?? null)),
      numberArray(flat.map(({ wait }) => wait)),
      textArray(added.map(({ context }) => context)),
    ];
    await this.run((connection) => connection.rows(sql.add, values), { ...(transaction && { transaction }) });
  };

  readonly turn: Store['turn'] = async ({ finished, released, claims }) => {
    const releasing =
      released.length === 0
        ? Promise.resolve()
        : this.query(sql.release, [released.map(({ id }) => id), released.map(({ token }) => token), this.owner]);
    for (const job of released) this.letGo(job);
    // Written on one connection while another claims; what is written does not fall due before the claim is over.
    const ends = await Promise.allSettled([this.finish(finished), this.claim(claims), releasing] as const);
    const [stale, jobs] = ends.map((end) => (end.status === 'fulfilled' ? end.value : [])) as [Job[], Job[]];
    const broken = ends.find((end) => end.status === 'rejected');
    if (broken !== undefined) {
      await this.giveBack(jobs);
      throw broken.reason;
    }
    const counts = new Map<string, number>();
    for (const { endpointId } of jobs) counts.set(endpointId, (counts.get(endpointId) ?? 0) + 1);
    const short = claims.filter(
      ({ endpointId, passes, most }) => (counts.get(endpointId) ?? 0) < Math.min(most ?? Infinity, passes * passSize),
    );
    return {
      jobs,
      stale,
      idle: this.nextOf(short.map(({ endpointId }) => endpointId)).catch(() => new Map<string, number | null>()),
    };
  };

  readonly claimThese: Store['claimThese'] = async (uuids) => byId(await this.claimed(sql.claimThese, [uuids]));

  readonly heartbeat: Store['heartbeat'] = async () => {
    const asked = [...this.held];
    const { rows } =
      asked.length === 0
        ? { rows: [] }
        : await this.query(sql.extend, [asked.map(([id]) => id), asked.map(([, token]) => token), this.owner]);
    const kept = new Set(rows.map(([id]) => id));
    const lost = new Map(asked.filter(([id, token]) => !kept.has(id) && this.held.get(id) === token));
    for (const [id] of lost) this.held.delete(id);
    const { changes } = await this.query(sql.expire, []);
    return {
      freed: changes > 0,
      isLost: ({ id, token }: Job) => lost.get(id) === token,
      time: (await this.query(sql.time, [])).rows[0]?.[0] as number,
    };
  };

  readonly mendTimes: Store['mendTimes'] = async () => {
    const open = await this.openEndpoints();
    const { changes } = await this.query(sql.mendLeases, []);
    return changes + (await this.query(sql.mendWaits, [open])).changes;
  };

  readonly openEndpoints: Store['openEndpoints'] = async () =>
    (await this.query(sql.firstOpen, [])).rows.map(([id]) => id as string);

  readonly keepBody: Store['keepBody'] = async (job, body) =>
    (await this.query(sql.keepBody, [body, job.id, job.token, this.owner])).changes > 0;

  readonly contextOf: Store['contextOf'] = async (eventId) =>
    ((await this.query(sql.context, [eventId])).rows[0]?.[0] ?? null) as string | null;

  readonly leased: Store['leased'] = async (ids) =>
    new Set((await this.query(sql.leased, [ids])).rows.map(([id]) => id as number));

  private run<Result>(work: (connection: PostgresqlConnection) => Promise<Result>, init = {}): Promise<Result> {
    return this.database.direct<Result>(
      {
        sqlite: () => {
          throw new Error('This store is for PostgreSQL.');
        },
        postgresql: work,
      },
      init,
    );
  }

  private query(text: string, values: readonly unknown[]): ReturnType<PostgresqlConnection['rows']> {
    return this.run((connection) => connection.rows(text, values));
  }

  private toJob(row: Row, token: number): Job {
    const [
      id,
      uuid,
      made,
      runStart,
      target,
      ownBody,
      eventId,
      eventUuid,
      name,
      key,
      body,
      unfiltered,
      endpointId,
      orderKey,
    ] = row;
    const event =
      eventId === null
        ? null
        : {
            id: eventId as number,
            uuid: eventUuid as string,
            name: name as string,
            key: key as string,
            body: Buffer.from(body as string),
            unfiltered: unfiltered === 1,
          };
    this.held.set(id as number, token);
    return {
      id: id as number,
      uuid: uuid as string,
      endpointId: endpointId as string,
      token,
      attempts: made as number,
      runStart: runStart as number,
      target: target as string | null,
      orderKey: orderKey as string | null,
      ownBody: ownBody as Buffer | null,
      event,
    };
  }

  private letGo({ id, token }: Job): void {
    if (this.held.get(id) === token) this.held.delete(id);
  }

  /** Many in two halves at the same time: the next turn waits for them, and the server has a process for each. What of one was written though the other failed is known when both are tried again. */
  private async finish(outcomes: readonly Finish[]): Promise<Job[]> {
    if (outcomes.length <= mostDelivered) return this.finishTogether(outcomes);
    const middle = Math.ceil(outcomes.length / 2);
    const ends = await Promise.allSettled([
      this.finishTogether(outcomes.slice(0, middle)),
      this.finishTogether(outcomes.slice(middle)),
    ]);
    return ends.flatMap((end) => {
      if (end.status === 'rejected') throw end.reason;
      return end.value;
    });
  }

  /** In one transaction. */
  private async finishTogether(given: readonly Finish[]): Promise<Job[]> {
    if (given.length === 0) return [];
    const outcomes = [...given].sort((left, right) => left.job.id - right.job.id);
    const again = outcomes.filter(({ made, job }) => made === 1 && job.attempts > 0);
    const usual = outcomes.filter(isUsual);
    const others = usual.length === outcomes.length ? [] : outcomes.filter((outcome) => !isUsual(outcome));
    const written = new Set<unknown>();
    await this.run(async (connection) => {
      const write = async (text: string, values: readonly string[]): Promise<void> => {
        for (const [id] of (await connection.rows(text, values)).rows) written.add(id);
      };
      if (again.length > 0) await connection.rows(sql.keepAttempts, [...leasesOf(again), this.owner]);
      for (let start = 0; start < usual.length; start += mostDelivered) {
        const part = usual.slice(start, start + mostDelivered);
        await write(sql.deliver, [
          ...leasesOf(part),
          numberArray(part.map(({ status }) => status)),
          numberArray(part.map(({ duration }) => duration)),
          joinedJson(part.map(({ log }) => log)),
          this.owner,
        ]);
      }
      if (others.length > 0) await write(sql.finish, [...finishValues(others), this.owner]);
      if (written.size < outcomes.length) await write(sql.writtenBefore, [...leasesOf(outcomes), this.owner]);
    });
    for (const { job } of outcomes) this.letGo(job);
    return outcomes.map(({ job }) => job).filter(({ id }) => !written.has(id));
  }

  private async claim(requests: readonly ClaimRequest[]): Promise<Job[]> {
    if (requests.length === 0) return [];
    const wanted = requests.map(({ endpointId, passes, most }) => ({
      endpoint_id: endpointId,
      n: Math.min(most ?? Infinity, passes * passSize),
    }));
    return byId(await this.claimed(sql.claim, [JSON.stringify(wanted)]));
  }

  private async claimed(text: string, values: readonly unknown[]): Promise<Job[]> {
    const token = (this.claims += 1);
    return (await this.query(text, [this.owner, token, ...values])).rows.map((row) => this.toJob(row, token));
  }

  /** Claimed by a turn that failed otherwise: nobody is going to send them. Their leases end by themselves if this fails too. */
  private async giveBack(jobs: readonly Job[]): Promise<void> {
    for (const job of jobs) this.letGo(job);
    if (jobs.length > 0)
      await this.query(sql.release, [jobs.map(({ id }) => id), jobs.map(({ token }) => token), this.owner]).catch(
        () => undefined,
      );
  }

  private async nextOf(endpointIds: readonly string[]): Promise<Map<string, number | null>> {
    if (endpointIds.length === 0) return new Map();
    const { rows } = await this.query(sql.next, [endpointIds]);
    return new Map(rows.map(([id, wait]) => [id as string, wait as number | null]));
  }
}

/** @param owner different for every process. */
export function createPostgresqlStore(database: DatabaseApi, owner: string): Store {
  return new PostgresqlStore(database, owner);
}
