import type { HostApi } from '#plugin-api';
import type { WebhookMetrics } from './delivery.ts';
import { tables } from './migrations.ts';
import type { Worker } from './worker/worker-contract.ts';

/** Numbers of this process, and of the queue that all share. */
export async function readMetrics(host: Pick<HostApi, 'database'>, worker: Pick<Worker, 'lanes' | 'inFlight'>, emitted: number): Promise<WebhookMetrics> {
  const { database } = host;
  const waiting: { id: string; count: number; oldest: number | null; now: number }[] = await database.knex(tables.deliveries).whereNotNull('due_at').groupBy('endpoint_id')
    .select('endpoint_id as id', database.knex.raw('count(*) as count'), database.knex.raw('min(created_at) as oldest'), database.knex.raw('? as now', [database.now()]));
  const lanes = [...worker.lanes.values()];
  const sum = (pick: (lane: (typeof lanes)[number]) => number): number => lanes.reduce((total, lane) => total + pick(lane), 0);
  const ages = waiting.map(({ oldest, now }) => (oldest === null ? 0 : (now - oldest) / 1000));
  return {
    delivered: sum(({ delivered }) => delivered), failed: sum(({ failed }) => failed), retried: sum(({ retried }) => retried), emitted, inFlight: worker.inFlight(),
    queueAge: Math.max(0, ...ages), waiting: waiting.reduce((total, { count }) => total + Number(count), 0),
    endpoints: [...new Set([...lanes.map(({ id }) => id), ...waiting.map(({ id }) => id)])].map((id) => {
      const lane = worker.lanes.get(id);
      return { endpointId: id, delivered: lane?.delivered ?? 0, failed: lane?.failed ?? 0, retried: lane?.retried ?? 0, inFlight: lane?.inFlight ?? 0, limit: lane?.limit ?? 0, waiting: Number(waiting.find((row) => row.id === id)?.count ?? 0) };
    }),
  };
}

export function exposeMetrics(metrics: WebhookMetrics): string {
  const lines: string[] = [];
  const add = (name: string, type: 'counter' | 'gauge', help: string): void => void lines.push(`# HELP svc_webhook_${name} ${help}`, `# TYPE svc_webhook_${name} ${type}`);
  for (const [name, help] of [['delivered', 'Deliveries that succeeded.'], ['failed', 'Deliveries that failed for good.'], ['retried', 'Attempts that were put off.']] as const) {
    add(`${name}_total`, 'counter', help);
    for (const endpoint of metrics.endpoints) lines.push(`svc_webhook_${name}_total{endpoint="${endpoint.endpointId.replaceAll(/["\\\n]/g, '_')}"} ${String(endpoint[name])}`);
  }
  for (const [name, help] of [['inFlight', 'Attempts under way, by endpoint.'], ['waiting', 'Deliveries that wait or are under way, by endpoint.'], ['limit', 'Attempts this node may make at once, by endpoint.']] as const) {
    const metric = `endpoint_${name === 'inFlight' ? 'in_flight' : name}`;
    add(metric, 'gauge', help);
    for (const endpoint of metrics.endpoints) lines.push(`svc_webhook_${metric}{endpoint="${endpoint.endpointId.replaceAll(/["\\\n]/g, '_')}"} ${String(endpoint[name])}`);
  }
  add('emitted_total', 'counter', 'Events emitted.');
  lines.push(`svc_webhook_emitted_total ${String(metrics.emitted)}`);
  for (const [name, value, help] of [['in_flight', metrics.inFlight, 'Attempts under way.'], ['queue_age_seconds', metrics.queueAge, 'Age of the oldest delivery that waits.'], ['waiting', metrics.waiting, 'Deliveries that wait or are under way.']] as const) {
    add(name, 'gauge', help);
    lines.push(`svc_webhook_${name} ${String(value)}`);
  }
  return `${lines.join('\n')}\n`;
}
