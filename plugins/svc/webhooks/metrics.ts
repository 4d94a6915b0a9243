import type { HostApi } from '#plugin-api';
import type { WebhookMetrics } from './delivery.ts';
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

export function exposeMetrics(metrics: WebhookMetrics): string {
  const lines: string[] = [];
  const add = (name: string, type: 'counter' | 'gauge', help: string): void =>
    void lines.push(`# HELP svc_webhook_${name} ${help}`, `# TYPE svc_webhook_${name} ${type}`);
  for (const [name, help] of [
    ['delivered', 'Deliveries that succeeded.'],
    ['failed', 'Deliveries that failed permanently.'],
    ['retried', 'Attempts that are retried.'],
  ] as const) {
    add(`${name}_total`, 'counter', help);
    for (const endpoint of metrics.endpoints)
      lines.push(
        `svc_webhook_${name}_total{endpoint="${endpoint.endpointId.replaceAll(/["\\\n]/g, '_')}"} ${String(endpoint[name])}`,
      );
  }
  for (const [name, help] of [
    ['inFlight', 'In-flight attempts, by endpoint.'],
    ['waiting', 'Pending and in-flight deliveries, by endpoint.'],
    ['limit', 'Maximum concurrent attempts of this node, by endpoint.'],
  ] as const) {
    const metric = `endpoint_${name === 'inFlight' ? 'in_flight' : name}`;
    add(metric, 'gauge', help);
    for (const endpoint of metrics.endpoints)
      lines.push(
        `svc_webhook_${metric}{endpoint="${endpoint.endpointId.replaceAll(/["\\\n]/g, '_')}"} ${String(endpoint[name])}`,
      );
  }
  add('endpoint_held', 'gauge', '1 while deliveries are held because a secret cannot be decrypted, by endpoint.');
  for (const endpoint of metrics.endpoints)
    lines.push(
      `svc_webhook_endpoint_held{endpoint="${endpoint.endpointId.replaceAll(/["\\\n]/g, '_')}"} ${String(Number(endpoint.isHeld))}`,
    );
  add('emitted_total', 'counter', 'Events emitted.');
  lines.push(`svc_webhook_emitted_total ${String(metrics.emitted)}`);
  for (const [name, value, help] of [
    ['in_flight', metrics.inFlight, 'In-flight attempts.'],
    ['queue_age_seconds', metrics.queueAge, 'Age of the oldest pending delivery.'],
    ['waiting', metrics.waiting, 'Pending and in-flight deliveries.'],
  ] as const) {
    add(name, 'gauge', help);
    lines.push(`svc_webhook_${name} ${String(value)}`);
  }
  return `${lines.join('\n')}\n`;
}
