import type { HostApi } from '#plugin-api';
import type { AttemptRecord } from './attempt.ts';
import type { Attempt, Condition, Delivery, DeliveryDetail, DeliveryFailure, DeliveryFilter, DeliveryState } from './delivery.ts';
import { schemaVersion } from './event.ts';
import { tables } from './migrations.ts';
import type { SettingsStore, Snapshot } from './settings-store.ts';
import type { Store } from './store/store-contract.ts';
import type { Catalogue } from './catalogue.ts';
import type { Recorder } from './webhooks.ts';
import type { Circuits } from './worker/circuits.ts';

const { deliveries, events, attempts } = tables;

export interface DeliveryRow {
  readonly id: number;
  readonly uuid: string;
  /** null, as all of the event: it is not stored any more. */
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
}

export interface RecorderParts {
  readonly host: Pick<HostApi, 'database' | 'hooks' | 'plugin'>;
  readonly settings: SettingsStore;
  readonly store: Store;
  readonly catalogue: Catalogue;
  readonly circuits: Circuits;
  readonly wake: (endpointIds?: readonly string[]) => void;
}

type LogReading = Pick<Recorder, 'list' | 'get' | 'recentFailures' | 'retry' | 'clear' | 'whyNot'>;

/** What was sent: lists, one delivery with its attempts, and the panel of failed jobs (contract 3). */
export function createDeliveryLog({ host, settings, store, catalogue, circuits, wake }: RecorderParts): LogReading {
  const { database, hooks } = host;

  function select(filter: DeliveryFilter = {}) {
    const query = database.knex(`${deliveries} as d`).leftJoin(`${events} as e`, 'e.id', 'd.event_id')
      .select('d.id', 'd.uuid', 'e.uuid as event_uuid', 'e.name', 'e.key', 'd.endpoint_id', 'd.state', 'd.attempts', 'd.due_at', 'd.created_at', 'd.finished_at', 'd.http_status', 'd.failure', 'd.error', 'd.duration', 'd.target');
    if (filter.state === 'pending' || filter.state === 'delivering') void query.whereNotNull('d.due_at');
    else if (filter.state) void query.where('d.state', filter.state);
    if (filter.event) void query.where('e.name', filter.event);
    if (filter.endpointId) void query.where('d.endpoint_id', filter.endpointId);
    if (filter.since !== undefined) void query.where('d.created_at', '>=', filter.since);
    if (filter.until !== undefined) void query.where('d.created_at', '<=', filter.until);
    return query;
  }

  async function shown(rows: readonly DeliveryRow[]): Promise<Delivery[]> {
    const [{ stored }, leased] = [await settings.current(), await store.leased(rows.map(({ id }) => id))];
    const nameOf = ({ endpoint_id: id, target }: DeliveryRow): string =>
      stored.endpoints.find((endpoint) => endpoint.id === id)?.name ?? stored.removed[id] ?? (target === null ? '(removed endpoint)' : (readJson(target) as { name?: string } | null)?.name ?? '(removed endpoint)');
    return rows.map((row) => ({
      id: row.uuid, eventId: row.event_uuid ?? '', event: row.name ?? '', endpointId: row.endpoint_id, endpointName: nameOf(row), state: row.state === 'pending' && leased.has(row.id) ? 'delivering' : row.state,
      attempts: row.attempts, dueAt: row.due_at, createdAt: row.created_at, finishedAt: row.finished_at, httpStatus: row.http_status, failure: row.failure, error: row.error, duration: row.duration,
    }));
  }

  return {
    async list(filter, { before, limit = 50 } = {}) {
      const most = Math.max(1, Math.min(200, Math.floor(limit)));
      const query = select(filter).orderBy('d.id', 'desc').limit(most + 1);
      if (before !== undefined) void query.where('d.id', '<', Number(before) || 0);
      const rows = (await query) as DeliveryRow[];
      const page = rows.slice(0, most);
      const all = await shown(page);
      const kept = filter?.state === 'pending' || filter?.state === 'delivering' ? all.filter(({ state }) => state === filter.state) : all;
      return { deliveries: kept, next: rows.length > most ? String(page.at(-1)?.id ?? '') : null };
    },
    async get(id) {
      const row = (await select().where('d.uuid', id).select('d.log', 'd.body', 'e.body as event_body').first()) as DeliveryRow | undefined;
      if (!row) return null;
      const earlier: { number: number; log: string }[] = await database.knex(attempts).where({ delivery_id: row.id }).orderBy('number').select('number', 'log');
      const logs = row.log === null ? earlier : [...earlier.filter(({ number }) => number < row.attempts), { number: row.attempts, log: row.log }];
      const [delivery] = await shown([row]);
      return { ...(delivery as Delivery), body: Buffer.from(row.body ?? row.event_body ?? '').toString(), attemptLog: logs.filter(({ log }) => readJson(log) !== null).map(({ number, log }) => readAttempt(number, log, { row, userAgent: `${host.plugin.slug}/${host.plugin.version}` })) } satisfies DeliveryDetail;
    },
    async recentFailures(limit = 5) {
      return shown((await select({ state: 'failed' }).where('d.cleared', 0).orderBy('d.id', 'desc').limit(limit)) as DeliveryRow[]);
    },
    async retry(id, attempts) {
      const isMeant = { state: 'failed', ...(attempts !== undefined && { attempts }) } as const;
      const row: { id: number; endpoint_id: string } | undefined = await database.knex(deliveries).where({ uuid: id, ...isMeant }).first('id', 'endpoint_id');
      if (!row) return false;
      if (!(await restart(host, [row.id], isMeant))) return false;
      wake([row.endpoint_id]);
      return true;
    },
    async clear(id) {
      return (await database.knex(deliveries).where({ uuid: id, state: 'failed', cleared: 0 }).update({ cleared: 1 })) > 0;
    },
    async whyNot(event, endpointId) {
      const snapshot = await settings.current();
      const conditions = fourConditions(snapshot, catalogue.normalise(event) ?? event, endpointId);
      const processing = await hooks.applyFiltersAsync('svc_event_delivery_queue_processing_enabled', true).catch(() => false);
      const paused = (await circuits.list()).find((circuit) => circuit.endpointId === endpointId && circuit.pausedAt !== null);
      const filtered = (name: string): boolean => hooks.hasFilter(name) === false;
      return [
        ...conditions,
        { id: 'envelope_filter', label: 'No plugin changes the envelope', met: filtered('svc_event_webhooks_envelope'), hint: 'A plugin filters svc_event_webhooks_envelope. If it throws, deliveries fail and say so.' },
        { id: 'targets_filter', label: 'No plugin changes the targets', met: filtered('svc_event_webhooks_targets'), hint: 'A plugin filters svc_event_webhooks_targets and may leave this endpoint out.' },
        { id: 'processing', label: 'The queue is being worked', met: processing === true, hint: 'A plugin holds the queue with svc_event_delivery_queue_processing_enabled.' },
        { id: 'circuit', label: 'The endpoint is not paused', met: paused === undefined, hint: `It has been failing: ${paused?.reason ?? ''} Its events wait and go out when it answers again.` },
      ];
    },
  };
}

/** Finished deliveries begin a new series of attempts. Only those that still are as they are meant: a second click finds none. */
export async function restart({ database }: Pick<HostApi, 'database'>, ids: readonly number[], isMeant: { readonly state?: 'delivered' | 'failed'; readonly attempts?: number } = {}): Promise<number> {
  const { knex } = database;
  // Not 0: what is due at once is looked for among the newest alone.
  return knex(deliveries).whereIn('id', [...ids]).whereNull('due_at').where(isMeant)
    .update({ state: 'pending', due_at: database.now(), run_start: knex.ref('attempts'), finished_at: null, cleared: 0 });
}

/** Contract 6.1. */
export function fourConditions({ stored, byId }: Snapshot, event: string, endpointId: string): Condition[] {
  const endpoint = byId.get(endpointId);
  return [
    { id: 'switch', label: 'Event webhooks are on', met: stored.enabled, hint: 'Switch them on above the endpoints.' },
    { id: 'enabled', label: 'The endpoint is on', met: endpoint?.enabled === true, hint: endpoint ? 'Switch the endpoint on.' : 'There is no such endpoint.' },
    { id: 'url', label: 'The endpoint has a URL', met: (endpoint?.url ?? '') !== '', hint: 'Give it the address to send to.' },
    { id: 'subscribed', label: `It is subscribed to ${event}`, met: endpoint?.events.includes(event) === true, hint: 'Tick the event in the endpoint.' },
  ];
}

function readAttempt(number: number, log: string, { row, userAgent }: { readonly row: DeliveryRow; readonly userAgent: string }): Attempt {
  const kept = JSON.parse(log) as AttemptRecord;
  const standard = {
    'Content-Type': 'application/json; charset=utf-8', Accept: 'application/json', 'User-Agent': userAgent,
    'X-SVC-Event': row.name ?? '', 'X-SVC-Event-Id': row.event_uuid ?? '', 'X-SVC-Delivery-Id': row.uuid, 'X-SVC-Idempotency-Key': row.key ?? '', 'X-SVC-Schema-Version': schemaVersion, 'X-SVC-Timestamp': kept.time,
    ...(kept.sig !== null && { 'X-SVC-Signature': kept.sig, 'X-SVC-Signature-Alg': 'sha256' }),
  };
  return {
    number, startedAt: kept.at, duration: kept.ms, status: kept.status, failure: kept.failure as DeliveryFailure | null, error: kept.error, url: kept.url, requestHeaders: kept.headers ?? standard,
    timestamp: kept.time, responseHeaders: kept.answer, responseBody: kept.text, nextTryAt: kept.next === null ? null : kept.at + kept.ms + kept.next,
  };
}

/** One row that is broken must not take the page with it. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
