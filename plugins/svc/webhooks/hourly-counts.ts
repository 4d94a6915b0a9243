import { requiredColumns, type HostApi } from '#plugin-api';
import { createTables } from '../kit/migrations.ts';
import type { EndpointMetrics } from './delivery.ts';
import type { DeliveryLog } from './webhooks.ts';

export const hoursTable = 'svc_webhook_hours';

/** One row per hour and endpoint with deliveries. `hour`: its start in milliseconds since the epoch. */
export const hoursMigration = createTables('0101_webhook_hours', {
  [hoursTable](columns) {
    requiredColumns(columns).bigInteger('hour').text('endpoint_id').integer('delivered', 'failed', 'retried');
    columns.primary(['hour', 'endpoint_id']);
  },
});

const hourLength = 3_600_000;
const retentionDays = 92;
const flushInterval = 60_000;

export interface HourCounts {
  /** Start of the hour in milliseconds since the epoch. */
  readonly hour: number;
  readonly delivered: number;
  readonly failed: number;
  readonly retried: number;
}

export interface HourlyCounts {
  /** Adds what this process has counted since the last flush. */
  flush(): Promise<void>;
  /** Hours with deliveries, oldest first. */
  read(span: { readonly since: number; readonly until: number; readonly endpointId?: string }): Promise<HourCounts[]>;
  /** Flushes every minute and deletes counts older than 92 days. */
  start(): void;
}

export interface HourlyCountsParts {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'log'>;
  readonly deliveryLog: Pick<DeliveryLog, 'metrics'>;
}

/**
 * Counts deliveries by hour and endpoint from the counters of each node. A delivery needs no extra write, and a chart over
 * a million deliveries is as fast as over ten. A killed process loses the counts of its last minute, but no deliveries.
 */
export function createHourlyCounts({ host: { database, clock, log }, deliveryLog }: HourlyCountsParts): HourlyCounts {
  const seen = new Map<string, Pick<EndpointMetrics, 'delivered' | 'failed' | 'retried'>>();
  let lastFlush: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    const { endpoints } = await deliveryLog.metrics();
    const hour = Math.floor(clock.now() / hourLength) * hourLength;
    for (const { endpointId, delivered, failed, retried } of endpoints) {
      const before = seen.get(endpointId) ?? { delivered: 0, failed: 0, retried: 0 };
      const added = {
        delivered: delivered - before.delivered,
        failed: failed - before.failed,
        retried: retried - before.retried,
      };
      if (added.delivered === 0 && added.failed === 0 && added.retried === 0) continue;
      await add({ hour, endpoint_id: endpointId, ...added });
      seen.set(endpointId, { delivered, failed, retried });
    }
  }

  async function add(row: {
    readonly hour: number;
    readonly endpoint_id: string;
    readonly delivered: number;
    readonly failed: number;
    readonly retried: number;
  }): Promise<void> {
    const { knex } = database;
    const sum = (name: 'delivered' | 'failed' | 'retried') => knex.raw('?? + ?', [`${hoursTable}.${name}`, row[name]]);
    await knex(hoursTable)
      .insert(row)
      .onConflict(['hour', 'endpoint_id'])
      .merge({ delivered: sum('delivered'), failed: sum('failed'), retried: sum('retried') });
  }

  const flush = (): Promise<void> => (lastFlush = lastFlush.catch(() => undefined).then(write));
  const tick = async (): Promise<void> => {
    await flush();
    await database
      .knex(hoursTable)
      .where('hour', '<', clock.now() - retentionDays * 24 * hourLength)
      .delete();
  };
  return {
    flush,
    async read({ since, until, endpointId }) {
      const query = database
        .knex(hoursTable)
        .where('hour', '>=', since)
        .where('hour', '<', until)
        .groupBy('hour')
        .orderBy('hour')
        .select('hour')
        .sum({ delivered: 'delivered', failed: 'failed', retried: 'retried' });
      if (endpointId !== undefined) void query.where({ endpoint_id: endpointId });
      const rows = (await query) as Readonly<Record<keyof HourCounts, number | string>>[];
      return rows.map((row) => ({
        hour: Number(row.hour),
        delivered: Number(row.delivered),
        failed: Number(row.failed),
        retried: Number(row.retried),
      }));
    },
    start: () =>
      void clock.every(
        flushInterval,
        () =>
          void tick().catch((error: unknown) => {
            log.warn('Failed to store hourly webhook counts; the next flush includes them', {
              event: 'webhook_counts_write_failed',
              error,
            });
          }),
      ),
  };
}
