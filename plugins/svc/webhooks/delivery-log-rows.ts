import type { HostApi } from '#plugin-api';
import type { AttemptRecord } from './attempt-record.ts';
import type { Attempt, BodyDeletion, Delivery, DeliveryFailure, DeliveryFilter, DeliveryState } from './delivery.ts';
import { schemaVersion } from './event.ts';
import { heldReason } from './held-endpoints.ts';
import { bodyStates, tables } from './migrations.ts';
import type { SettingsStore } from './settings-store.ts';
import type { Store } from './store/store-contract.ts';

const { deliveries, events } = tables;

export interface DeliveryRow {
  readonly id: number;
  readonly uuid: string;
  /** null, like all columns of the event, if the event is no longer stored. */
  readonly event_uuid: string | null;
  readonly name: string | null;
  readonly key: string | null;
  readonly endpoint_id: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly due_at: number | null;
  readonly created_at: number;
  readonly finished_at: number | null;
  readonly http_status: number | null;
  readonly failure: DeliveryFailure | null;
  readonly error: string | null;
  readonly duration: number | null;
  readonly target: string | null;
  readonly log: string | null;
  readonly body: Buffer | null;
  readonly event_body: Buffer | null;
  readonly body_state: number | null;
  readonly body_deleted_at: number | null;
}

/** Selects deliveries with their events, without the long columns. */
export function selectDeliveries({ knex }: Pick<HostApi['database'], 'knex'>, filter: DeliveryFilter = {}) {
  const query = knex(`${deliveries} as d`)
    .leftJoin(`${events} as e`, 'e.id', 'd.event_id')
    .select(
      'd.id',
      'd.uuid',
      'e.uuid as event_uuid',
      'e.name',
      'e.key',
      'd.endpoint_id',
      'd.state',
      'd.attempts',
      'd.due_at',
      'd.created_at',
      'd.finished_at',
      'd.http_status',
      'd.failure',
      'd.error',
      'd.duration',
      'd.target',
      'e.body_state',
      'e.body_deleted_at',
    );
  if (filter.state === 'pending' || filter.state === 'delivering') void query.whereNotNull('d.due_at');
  else if (filter.state) void query.where('d.state', filter.state);
  if (filter.event) void query.where('e.name', filter.event);
  if (filter.endpointId) void query.where('d.endpoint_id', filter.endpointId);
  if (filter.since !== undefined) void query.where('d.created_at', '>=', filter.since);
  if (filter.until !== undefined) void query.where('d.created_at', '<=', filter.until);
  return query;
}

/** Converts rows for pages: adds the current or last name of the endpoint, and the state `delivering`. */
export async function toDeliveries(
  { settings, store }: { readonly settings: SettingsStore; readonly store: Store },
  rows: readonly DeliveryRow[],
): Promise<Delivery[]> {
  const [snapshot, leased] = [await settings.current(), await store.findLeased(rows.map(({ id }) => id))];
  const { stored } = snapshot;
  const nameFor = ({ endpoint_id: id, target }: DeliveryRow): string =>
    stored.endpoints.find((endpoint) => endpoint.id === id)?.name ??
    stored.removed[id] ??
    (target === null
      ? '(deleted endpoint)'
      : ((parseJson(target) as { name?: string } | null)?.name ?? '(deleted endpoint)'));
  return rows.map((row) => ({
    id: row.uuid,
    eventId: row.event_uuid ?? '',
    event: row.name ?? '',
    endpointId: row.endpoint_id,
    endpointName: nameFor(row),
    state: row.state === 'pending' && leased.has(row.id) ? 'delivering' : row.state,
    attempts: row.attempts,
    dueAt: row.due_at,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    httpStatus: row.http_status,
    failure: row.failure,
    error: row.error,
    duration: row.duration,
    bodyDeleted: bodyDeletion(row.body_state),
    held: row.state === 'pending' ? heldReason(snapshot, row.endpoint_id) : null,
  }));
}

function bodyDeletion(state: number | null): BodyDeletion | null {
  if (state === bodyStates.notKept) return 'not_kept';
  return state === bodyStates.erased ? 'erased' : null;
}

export function toAttempt(
  number: number,
  log: string,
  { row, userAgent }: { readonly row: DeliveryRow; readonly userAgent: string },
): Attempt {
  const record = JSON.parse(log) as AttemptRecord;
  const standard = {
    'Content-Type': 'application/json; charset=utf-8',
    Accept: 'application/json',
    'User-Agent': userAgent,
    'X-SVC-Event': row.name ?? '',
    'X-SVC-Event-Id': row.event_uuid ?? '',
    'X-SVC-Delivery-Id': row.uuid,
    'X-SVC-Idempotency-Key': row.key ?? '',
    'X-SVC-Schema-Version': schemaVersion,
    'X-SVC-Timestamp': record.time,
    ...(record.sig !== null && { 'X-SVC-Signature': record.sig, 'X-SVC-Signature-Alg': 'sha256' }),
  };
  return {
    number,
    startedAt: record.at,
    duration: record.ms,
    status: record.status,
    failure: record.failure as DeliveryFailure | null,
    error: record.error,
    url: record.url,
    requestHeaders: record.headers ?? standard,
    timestamp: record.time,
    responseHeaders: record.answer,
    responseBody: record.text,
    nextTryAt: record.next === null ? null : record.at + record.ms + record.next,
  };
}

/** Returns null for invalid JSON: one corrupt row must not fail the page. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
