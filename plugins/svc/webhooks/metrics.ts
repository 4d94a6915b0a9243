import type { HostApi, Metric } from '#plugin-api';
import type { EndpointMetrics, WebhookMetrics } from './delivery.ts';
import { heldReason } from './held-endpoints.ts';
import { tables } from './migrations.ts';
import type { SettingsStore } from './settings-store.ts';
import type { Worker } from './worker/worker-contract.ts';

interface Backlog {
  readonly id: string;
  readonly count: number;
  /** Age of the oldest delivery in milliseconds. */
  readonly age: number;
}

/** Counting a million open jobs takes 0.2 s: from this many on, the count is cached. */
const manyJobs = 100_000;
const cache = new WeakMap<object, { readonly waiting: readonly Backlog[]; readonly until: number }>();

async function cachedBacklog(host: Pick<HostApi, 'database'>): Promise<readonly Backlog[]> {
  const cached = cache.get(host.database);
  if (cached && cached.until > performance.now()) return cached.waiting;
  const waiting = await readBacklog(host);
  const total = waiting.reduce((sum, { count }) => sum + count, 0);
  // Four seconds at a million jobs: counting takes at most a twentieth of the time.
  if (total > manyJobs) cache.set(host.database, { waiting, until: performance.now() + total / 250 });
  else cache.delete(host.database);
  return waiting;
}

/** Open jobs by endpoint. Reads only the index of open jobs: ids grow with time, so the lowest id is the oldest job. */
async function readBacklog({ database }: Pick<HostApi, 'database'>): Promise<readonly Backlog[]> {
  const { knex } = database;
  const rows: { id: string; count: number | string; first: number }[] = await knex(tables.deliveries)
    .whereNotNull('due_at')
    .groupBy('endpoint_id')
    .select('endpoint_id as id', knex.raw('count(*) as count'), knex.raw('min(id) as first'));
  const firsts: { id: number; age: number }[] =
    rows.length === 0
      ? []
      : await knex(tables.deliveries)
          .whereIn(
            'id',
            rows.map(({ first }) => first),
          )
          .select('id', knex.raw('? - created_at as age', [database.now()]));
  return rows.map(({ id, count, first }) => ({
    id,
    count: Number(count),
    age: Math.max(0, Number(firsts.find((row) => row.id === first)?.age ?? 0)),
  }));
}

export interface MetricsSources {
  readonly worker: Pick<Worker, 'queues' | 'inFlight'>;
  readonly settings: Pick<SettingsStore, 'current'>;
  /** Events emitted by this process. */
  readonly emitted: number;
}

/** Counters of this process, and the size of the queue that all nodes share. */
export async function readMetrics(
  host: Pick<HostApi, 'database'>,
  { worker, settings, emitted }: MetricsSources,
): Promise<WebhookMetrics> {
  const snapshot = await settings.current();
  const waiting = await cachedBacklog(host);
  const queues = [...worker.queues.values()];
  const sum = (pick: (queue: (typeof queues)[number]) => number): number =>
    queues.reduce((total, queue) => total + pick(queue), 0);
  return {
    delivered: sum(({ delivered }) => delivered),
    failed: sum(({ failed }) => failed),
    retried: sum(({ retried }) => retried),
    emitted,
    inFlight: worker.inFlight(),
    queueAge: Math.max(0, ...waiting.map(({ age }) => age / 1000)),
    waiting: waiting.reduce((total, { count }) => total + count, 0),
    endpoints: [
      ...new Set([
        ...queues.map(({ id }) => id),
        ...waiting.map(({ id }) => id),
        ...[...snapshot.byId.keys()].filter((id) => heldReason(snapshot, id) !== null),
      ]),
    ].map((id) => {
      const queue = worker.queues.get(id);
      return {
        endpointId: id,
        delivered: queue?.delivered ?? 0,
        failed: queue?.failed ?? 0,
        retried: queue?.retried ?? 0,
        inFlight: queue?.inFlight ?? 0,
        limit: queue?.limit ?? 0,
        waiting: waiting.find((row) => row.id === id)?.count ?? 0,
        isHeld: heldReason(snapshot, id) !== null,
      };
    }),
  };
}

/** The counters and gauges of `GET /metrics`. */
export function toMetrics({ endpoints, emitted, inFlight, queueAge, waiting }: WebhookMetrics): readonly Metric[] {
  const metric = (name: string, help: string, samples: Metric['samples']): Metric => ({
    name: `svc_webhook_${name}`,
    type: name.endsWith('_total') ? 'counter' : 'gauge',
    help,
    samples,
  });
  const byEndpoint = (name: string, help: string, valueOf: (endpoint: EndpointMetrics) => number): Metric =>
    metric(
      name,
      help,
      endpoints.map((endpoint) => ({ labels: { endpoint: endpoint.endpointId }, value: valueOf(endpoint) })),
    );
  return [
    byEndpoint('delivered_total', 'Deliveries that succeeded.', ({ delivered }) => delivered),
    byEndpoint('failed_total', 'Deliveries that failed permanently.', ({ failed }) => failed),
    byEndpoint('retried_total', 'Attempts that are retried.', ({ retried }) => retried),
    byEndpoint('endpoint_in_flight', 'In-flight attempts, by endpoint.', (endpoint) => endpoint.inFlight),
    byEndpoint('endpoint_waiting', 'Pending and in-flight deliveries, by endpoint.', (endpoint) => endpoint.waiting),
    byEndpoint('endpoint_limit', 'Maximum concurrent attempts of this node, by endpoint.', ({ limit }) => limit),
    byEndpoint(
      'endpoint_held',
      '1 while deliveries are held because a secret cannot be decrypted, by endpoint.',
      ({ isHeld }) => Number(isHeld),
    ),
    metric('emitted_total', 'Events emitted.', [{ value: emitted }]),
    metric('in_flight', 'In-flight attempts.', [{ value: inFlight }]),
    metric('queue_age_seconds', 'Age of the oldest pending delivery.', [{ value: queueAge }]),
    metric('waiting', 'Pending and in-flight deliveries.', [{ value: waiting }]),
  ];
}
