import type { HostApi } from '#plugin-api';
import type { Delivery, DeliveryDetail } from './delivery.ts';
import { tables } from './migrations.ts';
import { readAttempt, readJson, selectDeliveries, showDeliveries, type DeliveryRow } from './recorder-rows.ts';
import type { SettingsStore } from './settings-store.ts';
import type { Store } from './store/store-contract.ts';
import type { Catalogue } from './catalogue.ts';
import type { Recorder } from './webhooks.ts';
import { whyNot } from './why-not.ts';
import type { Circuits } from './worker/circuits.ts';

const { deliveries, attempts } = tables;

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
  const shown = (rows: readonly DeliveryRow[]): Promise<Delivery[]> => showDeliveries({ settings, store }, rows);

  return {
    async list(filter, { before, limit = 50 } = {}) {
      const most = Math.max(1, Math.min(200, Math.floor(limit)));
      const query = selectDeliveries(database, filter)
        .orderBy('d.id', 'desc')
        .limit(most + 1);
      if (before !== undefined) void query.where('d.id', '<', Number(before) || 0);
      const rows = (await query) as DeliveryRow[];
      const page = rows.slice(0, most);
      const all = await shown(page);
      const kept =
        filter?.state === 'pending' || filter?.state === 'delivering'
          ? all.filter(({ state }) => state === filter.state)
          : all;
      return { deliveries: kept, next: rows.length > most ? String(page.at(-1)?.id ?? '') : null };
    },
    async get(id) {
      const row = (await selectDeliveries(database)
        .where('d.uuid', id)
        .select('d.log', 'd.body', 'e.body as event_body')
        .first()) as DeliveryRow | undefined;
      if (!row) return null;
      const earlier: { number: number; log: string }[] = await database
        .knex(attempts)
        .where({ delivery_id: row.id })
        .orderBy('number')
        .select('number', 'log');
      const logs =
        row.log === null
          ? earlier
          : [...earlier.filter(({ number }) => number < row.attempts), { number: row.attempts, log: row.log }];
      const [delivery] = await shown([row]);
      return {
        ...(delivery as Delivery),
        body: Buffer.from(row.body ?? row.event_body ?? '').toString(),
        attemptLog: logs
          .filter(({ log }) => readJson(log) !== null)
          .map(({ number, log }) =>
            readAttempt(number, log, { row, userAgent: `${host.plugin.slug}/${host.plugin.version}` }),
          ),
      } satisfies DeliveryDetail;
    },
    async recentFailures(limit = 5) {
      return shown(
        (await selectDeliveries(database, { state: 'failed' })
          .where('d.cleared', 0)
          .orderBy('d.id', 'desc')
          .limit(limit)) as DeliveryRow[],
      );
    },
    async retry(id, attempts) {
      const isMeant = { state: 'failed', ...(attempts !== undefined && { attempts }) } as const;
      const row: { id: number; endpoint_id: string } | undefined = await database
        .knex(deliveries)
        .where({ uuid: id, ...isMeant })
        .first('id', 'endpoint_id');
      if (!row) return false;
      if (!(await restart(host, [row.id], isMeant))) return false;
      wake([row.endpoint_id]);
      return true;
    },
    async clear(id) {
      return (
        (await database.knex(deliveries).where({ uuid: id, state: 'failed', cleared: 0 }).update({ cleared: 1 })) > 0
      );
    },
    whyNot: (event, endpointId) => whyNot({ hooks, settings, catalogue, circuits }, event, endpointId),
  };
}

/** Finished deliveries begin a new series of attempts. Only those that still are as they are meant: a second click finds none. */
export async function restart(
  { database }: Pick<HostApi, 'database'>,
  ids: readonly number[],
  isMeant: { readonly state?: 'delivered' | 'failed'; readonly attempts?: number } = {},
): Promise<number> {
  const { knex } = database;
  // Not 0: what is due at once is looked for among the newest alone.
  return knex(deliveries)
    .whereIn('id', [...ids])
    .whereNull('due_at')
    .where(isMeant)
    .update({
      state: 'pending',
      due_at: database.now(),
      run_start: knex.ref('attempts'),
      finished_at: null,
      cleared: 0,
    });
}
