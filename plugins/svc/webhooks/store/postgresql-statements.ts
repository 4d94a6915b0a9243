import { bodyStates, tables } from '../migrations.ts';
import { leaseDuration, skewTolerance } from './store-contract.ts';

const { events, deliveries, attempts, leases } = tables;
const now = '(extract(epoch from statement_timestamp()) * 1000)::bigint';

/** The scheduled wait: after an attempt the last member of its record, before the first one the wait it was stored with. */
const scheduledWait = `CASE WHEN log IS NULL THEN due_at - created_at
  ELSE COALESCE(substring(log from '"next":([0-9]{1,15})[}]$')::bigint, 0) END`;

const isFirstOfKey = `AND (d.order_key IS NULL OR NOT EXISTS (SELECT 1 FROM ${deliveries} p
  WHERE p.endpoint_id = d.endpoint_id AND p.order_key = d.order_key AND p.due_at IS NOT NULL AND p.id < d.id))`;
/**
 * Commits without waiting for the disk. A crash of the server can lose the result; leases are lost with any crash, so the
 * job is sent again under the same ids (contract 6.7).
 */
const asynchronousCommit = "(SELECT set_config('synchronous_commit', 'off', true)) = 'off'";

/**
 * Leases the picked jobs. The primary key of the lease table refuses a job that another node picked at the same moment.
 * The planner cannot estimate how many jobs are picked, and a join would read all events. `OFFSET 0` prevents the join, so
 * each event is looked up by id; `IS TRUE` makes the leased ids a hash table instead of a nested loop.
 */
const lease = (picked: string): string => `WITH picked AS MATERIALIZED (${picked}), taken AS (
    INSERT INTO ${leases} (delivery_id, owner, token, until) SELECT id, $1, $2::bigint, ${now} + ${String(leaseDuration)} FROM picked WHERE ${asynchronousCommit} ON CONFLICT DO NOTHING RETURNING delivery_id)
  SELECT p.id, p.uuid, p.attempts, p.run_start, p.target, p.body, e.id, e.uuid, e.name, e.key, convert_from(e.body, 'UTF8'), e.needs_filter, p.order_key, e.body_state, p.endpoint_id, p.due_at
  FROM picked p LEFT JOIN LATERAL (SELECT * FROM ${events} e WHERE e.id = p.event_id OFFSET 0) e ON true WHERE (p.id IN (SELECT delivery_id FROM taken)) IS TRUE`;

const job = 'd.id, d.uuid, d.attempts, d.run_start, d.target, d.body, d.event_id, d.endpoint_id, d.order_key, d.due_at';
const isUnleased = `NOT EXISTS (SELECT 1 FROM ${leases} l WHERE l.delivery_id = d.id)`;
const due = `SELECT ${job} FROM ${deliveries} d WHERE d.endpoint_id = w.endpoint_id`;
const isClaimable = `AND ${isUnleased} ${isFirstOfKey}`;
/**
 * Postponed jobs that are due now come before jobs that are due at once: they are older, and new jobs would starve them.
 * Index seeks, each only if the ones before it leave room. `low`: see `ClaimFloors`. The requests come as JSON because its
 * row estimate is constant and the plan is reused; with arrays PostgreSQL plans every claim again.
 */
const fresh = (condition: string): string =>
  `SELECT * FROM (${due} AND d.due_at = 0 AND d.id ${condition} w.low ${isClaimable} ORDER BY d.id LIMIT w.n FOR UPDATE OF d SKIP LOCKED)`;
const pick = `SELECT p.* FROM json_to_recordset($3::json) AS w(endpoint_id text, n int, low bigint) CROSS JOIN LATERAL (
  SELECT b.* FROM (
    SELECT * FROM (${due} AND d.due_at > 0 AND d.due_at <= ${now} ${isClaimable} ORDER BY d.due_at, d.id LIMIT w.n FOR UPDATE OF d SKIP LOCKED) late
    UNION ALL ${fresh('>=')} fresh UNION ALL ${fresh('<')} rest) b LIMIT w.n) p`;

/**
 * Arrays as the columns of a table. `generate_series` raises the row estimate from ten to a thousand, so that a join with
 * few rows looked up by id uses a hash table instead of scanning all elements for each row.
 */
const rowsOf = (first: string, ...others: readonly string[]): string =>
  `ROWS FROM (${[first, ...others].map((array) => `unnest(${array})`).join(', ')}, generate_series(1, cardinality(${first})))`;

/**
 * The array element at the index that the delivery's id has in $1. No join, which the planner would plan at every call.
 * The ids ascend, so `width_bucket` finds the index by binary search; `array_position` would scan for every value.
 */
const elementFor = (array: string, id = 'd.id'): string => `(${array})[width_bucket(${id}, $1::bigint[])]`;

/** The leases with the ids $1 and tokens $2 of the owner $3. */
const isHeld = `l.delivery_id = ANY ($1::bigint[]) AND l.owner = $3 AND l.token = ${elementFor('$2::bigint[]', 'l.delivery_id')}`;

/** Deletes the leases with the ids $1 and tokens $2 before results are written. Like a claim, it locks the delivery before its lease. */
const endLeases = (
  owner: string,
): string => `WITH open AS MATERIALIZED (SELECT d.id FROM ${deliveries} d WHERE d.id = ANY ($1::bigint[]) AND d.due_at IS NOT NULL ORDER BY d.id FOR UPDATE), ended AS MATERIALIZED (
    DELETE FROM ${leases} l WHERE l.delivery_id = ANY (ARRAY(SELECT id FROM open)) AND l.owner = ${owner} AND l.token = ${elementFor('$2::bigint[]', 'l.delivery_id')} AND ${asynchronousCommit} RETURNING l.delivery_id)`;
const wasEnded = 'd.id = ANY (ARRAY(SELECT delivery_id FROM ended))';

export const sql = {
  add: `WITH ev AS (INSERT INTO ${events} (uuid, name, key, created_at, body, needs_filter, context, body_state, user_id, session_id)
      SELECT u, n, k, ${now}, convert_to(b, 'UTF8'), f, c, s, p, g FROM unnest($1::text[], $2::text[], $3::text[], ${jsonArray('$4')}, $5::int[], $14::text[], $15::int[], $16::bigint[], $17::text[])
        AS i(u, n, k, b, f, c, s, p, g) RETURNING id, uuid)
    INSERT INTO ${deliveries} (uuid, event_id, endpoint_id, state, due_at, order_key, target, created_at, finished_at, failure, error)
      SELECT i.u, ev.id, i.ep, CASE WHEN i.fail IS NULL THEN 'pending' ELSE 'failed' END, CASE WHEN i.fail IS NULL THEN CASE WHEN i.wait > 0 THEN ${now} + i.wait ELSE 0 END END, i.ord, i.t, ${now},
        CASE WHEN i.fail IS NOT NULL THEN ${now} END, i.fail, i.err
      FROM unnest($6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::bigint[]) WITH ORDINALITY AS i(ev, u, ep, ord, t, fail, err, wait, n)
      JOIN ev ON ev.uuid = i.ev ORDER BY i.n`,
  claim: lease(pick),
  claimByUuid: lease(
    `SELECT ${job} FROM ${deliveries} d WHERE d.uuid = ANY($3::text[]) AND d.due_at IS NOT NULL AND ${isUnleased} FOR UPDATE OF d SKIP LOCKED`,
  ),
  next: `SELECT w.id, (SELECT min(d.due_at) FROM ${deliveries} d WHERE d.endpoint_id = w.id AND d.due_at > ${now}) - ${now} FROM unnest($1::text[]) AS w(id)`,
  /** Copies the record of the previous attempt to the table of attempts, before it is overwritten. */
  archiveAttempts: `INSERT INTO ${attempts} (delivery_id, number, log) SELECT d.id, d.attempts, d.log FROM ${deliveries} d JOIN ${leases} l ON l.delivery_id = d.id
    WHERE d.id = ANY ($1::bigint[]) AND l.owner = $3 AND l.token = ${elementFor('$2::bigint[]')} AND d.log IS NOT NULL AND d.due_at IS NOT NULL ON CONFLICT DO NOTHING`,
  finish: `${endLeases('$12')}
    UPDATE ${deliveries} d SET state = i.state, due_at = CASE WHEN i.state = 'pending' THEN ${now} + i.delay END, owner = $12, token = i.token, attempts = d.attempts + i.attempted,
      run_start = d.run_start + i.exempt, finished_at = CASE WHEN i.state <> 'pending' THEN ${now} END, http_status = i.status, failure = i.failure, error = i.error, duration = i.duration, log = COALESCE(NULLIF(i.log, ''), d.log)
    FROM ${rowsOf('$1::bigint[]', '$2::bigint[]', '$3::text[]', '$4::bigint[]', '$5::int[]', '$6::int[]', '$7::int[]', '$8::text[]', '$9::text[]', '$10::int[]', jsonArray('$11'))}
      AS i(id, token, state, delay, attempted, exempt, status, failure, error, duration, log)
    WHERE d.id = i.id AND ${wasEnded} RETURNING d.id`,
  /** The common case: delivered by a scheduled attempt. */
  deliver: `${endLeases('$6')}, logs AS MATERIALIZED (SELECT ${jsonArray('$5')} AS list)
    UPDATE ${deliveries} d SET state = 'delivered', due_at = NULL, owner = $6, token = ${elementFor('$2::bigint[]')}, attempts = d.attempts + 1, finished_at = ${now},
      http_status = ${elementFor('$3::int[]')}, failure = NULL, error = NULL, duration = ${elementFor('$4::int[]')}, log = ${elementFor('logs.list')}
    FROM logs WHERE ${wasEnded} RETURNING d.id`,
  /** Among jobs that were not written: those that this process wrote earlier without receiving the confirmation. */
  writtenBefore: `SELECT d.id FROM ${deliveries} d WHERE d.id = ANY ($1::bigint[]) AND d.owner = $3 AND d.token = ${elementFor('$2::bigint[]')}`,
  release: `DELETE FROM ${leases} l WHERE ${isHeld}`,
  extend: `UPDATE ${leases} l SET until = ${now} + ${String(leaseDuration)} WHERE ${isHeld} RETURNING l.delivery_id`,
  expire: `DELETE FROM ${leases} WHERE until <= ${now}`,
  leased: `SELECT delivery_id FROM ${leases} WHERE delivery_id = ANY ($1::bigint[])`,
  time: `SELECT ${now}`,
  stored: `SELECT 1 FROM ${deliveries} WHERE uuid = $1`,
  shortenLeases: `UPDATE ${leases} SET until = ${now} + ${String(leaseDuration)} WHERE until > ${now} + ${String(leaseDuration)}`,
  shortenWaits: `UPDATE ${deliveries} SET due_at = ${now} + ${scheduledWait} WHERE endpoint_id = ANY($1::text[]) AND due_at > ${now} AND due_at > ${now} + ${scheduledWait} + ${String(skewTolerance)}`,
  openEndpoints: `WITH RECURSIVE open AS (
      (SELECT endpoint_id FROM ${deliveries} WHERE due_at IS NOT NULL ORDER BY endpoint_id LIMIT 1)
      UNION ALL SELECT (SELECT d.endpoint_id FROM ${deliveries} d WHERE d.due_at IS NOT NULL AND d.endpoint_id > open.endpoint_id ORDER BY d.endpoint_id LIMIT 1) FROM open WHERE open.endpoint_id IS NOT NULL)
    SELECT endpoint_id FROM open WHERE endpoint_id IS NOT NULL`,
  /** Serializes nodes that end the last deliveries of one event at the same moment: the later one sees the other's result. */
  lockTemporary: `SELECT id FROM ${events} WHERE id = ANY ($1::bigint[]) ORDER BY id FOR UPDATE`,
  deleteTemporaryBodies: `WITH deleted AS (
    UPDATE ${events} e SET body = '', context = NULL, body_state = ${String(bodyStates.notKept)}, body_deleted_at = ${now}
    WHERE e.id = ANY ($1::bigint[]) AND e.body_state = ${String(bodyStates.temporary)} AND NOT EXISTS (SELECT 1 FROM ${deliveries} d WHERE d.event_id = e.id AND d.due_at IS NOT NULL) RETURNING e.id)
    UPDATE ${deliveries} SET body = NULL WHERE event_id = ANY (ARRAY(SELECT id FROM deleted)) AND body IS NOT NULL`,
  context: `SELECT context FROM ${events} WHERE id = $1`,
  saveBodyOverride: `UPDATE ${deliveries} SET body = $1 WHERE id = $2 AND EXISTS (SELECT 1 FROM ${leases} WHERE delivery_id = $2 AND token = $3 AND owner = $4)`,
} as const;

// Array literals for PostgreSQL. The driver builds them too, but inspects and escapes each value: for a batch of JSON
// records that takes as long as the rest of the write.

export function numberArray(values: readonly (number | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`;
}

export function textArray(values: readonly (string | null)[]): string {
  let text = '{';
  for (const [index, value] of values.entries())
    text +=
      (index === 0 ? '' : ',') +
      (value === null ? 'NULL' : `"${/["\\]/.test(value) ? value.replaceAll(/["\\]/g, '\\$&') : value}"`);
  return `${text}}`;
}

/** Separates JSON texts. JSON never contains it, while `textArray` would have to escape almost every text. */
const separator = '\u0001';

/** Joins JSON texts for `jsonArray`. null becomes the empty text. */
export function joinJson(values: readonly (string | null)[]): string {
  return values.map((value) => value ?? '').join(separator);
}

/** SQL that splits such a text into an array. */
export function jsonArray(parameter: string): string {
  return `string_to_array(${parameter}::text, E'\\x01')`;
}
