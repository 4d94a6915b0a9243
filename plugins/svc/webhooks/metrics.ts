import type { HostApi } from '#plugin-api';
import type { WebhookMetrics } from './delivery.ts';
import { tables } from './migrations.ts';
import type { Worker } from './worker/worker-contract.ts';

interface Waiting {
  readonly id: string;
  readonly count: number;
  /** Milliseconds that the oldest has waited. */
  readonly age: number;
}

/** Counting a million open jobs takes a fifth of a second: from so many on, what was counted serves for a while. */
const manyJobs = 100_000;
const kept = new WeakMap<object, { readonly waiting: readonly Waiting[]; readonly until: number }>();

async function knownWaiting(host: Pick<HostApi, 'database'>): Promise<readonly Waiting[]> {
  const known = kept.get(host.database);
  if (known && known.until > performance.now()) return known.waiting;
  const waiting = await readWaiting(host);
  const total = waiting.reduce((sum, { count }) => sum + count, 0);
  // Four seconds at a million: a page and a scraper together cost a twentieth of the time at most.
  if (total > manyJobs) kept.set(host.database, { waiting, until: performance.now() + total / 250 });
  else kept.delete(host.database);
  return waiting;
}

/** Open jobs by endpoint. The index of open jobs alone is read: ids grow with time, so the lowest is the oldest. */
async function readWaiting({ database }: Pick<HostApi, 'database'>): Promise<readonly Waiting[]> {
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

/** Numbers of this process, and of the queue that all share. */
export async function readMetrics(
  host: Pick<HostApi, 'database'>,
  worker: Pick<Worker, 'lanes' | 'inFlight'>,
  emitted: number,
): Promise<WebhookMetrics> {
  const waiting = await knownWaiting(host);
  const lanes = [...worker.lanes.values()];
  const sum = (pick: (lane: (typeof lanes)[number]) => number): number =>
    lanes.reduce((total, lane) => total + pick(lane), 0);
  return {
    delivered: sum(({ delivered }) => delivered),
    failed: sum(({ failed }) => failed),
    retried: sum(({ retried }) => retried),
    emitted,
    inFlight: worker.inFlight(),
    queueAge: Math.max(0, ...waiting.map(({ age }) => age / 1000)),
    waiting: waiting.reduce((total, { count }) => total + count, 0),
    endpoints: [...new Set([...lanes.map(({ id }) => id), ...waiting.map(({ id }) => id)])].map((id) => {
      const lane = worker.lanes.get(id);
      return {
        endpointId: id,
        delivered: lane?.delivered ?? 0,
        failed: lane?.failed ?? 0,
        retried: lane?.retried ?? 0,
        inFlight: lane?.inFlight ?? 0,
        limit: lane?.limit ?? 0,
        waiting: waiting.find((row) => row.id === id)?.count ?? 0,
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
    ['failed', 'Deliveries that failed for good.'],
    ['retried', 'Attempts that were put off.'],
  ] as const) {
    add(`${name}_total`, 'counter', help);
    for (const endpoint of metrics.endpoints)
      lines.push(
        `svc_webhook_${name}_total{endpoint="${endpoint.endpointId.replaceAll(/["\\\n]/g, '_')}"} ${String(endpoint[name])}`,
      );
  }
  for (const [name, help] of [
    ['inFlight', 'Attempts under way, by endpoint.'],
    ['waiting', 'Deliveries that wait or are under way, by endpoint.'],
    ['limit', 'Attempts this node may make at once, by endpoint.'],
  ] as const) {
    const metric = `endpoint_${name === 'inFlight' ? 'in_flight' : name}`;
    add(metric, 'gauge', help);
    for (const endpoint of metrics.endpoints)
      lines.push(
        `svc_webhook_${metric}{endpoint="${endpoint.endpointId.replaceAll(/["\\\n]/g, '_')}"} ${String(endpoint[name])}`,
      );
  }
  add('emitted_total', 'counter', 'Events emitted.');
  lines.push(`svc_webhook_emitted_total ${String(metrics.emitted)}`);
  for (const [name, value, help] of [
    ['in_flight', metrics.inFlight, 'Attempts under way.'],
    ['queue_age_seconds', metrics.queueAge, 'Age of the oldest delivery that waits.'],
    ['waiting', metrics.waiting, 'Deliveries that wait or are under way.'],
  ] as const) {
    add(name, 'gauge', help);
    lines.push(`svc_webhook_${name} ${String(value)}`);
  }
  return `${lines.join('\n')}\n`;
}
