import type { HostApi, Knex } from '#plugin-api';
import type { Delivery, DeliveryDetail } from './delivery.ts';
import { errors } from '../kit/errors.ts';
import type { Envelope } from './event.ts';
import { bodyStates, tables } from './migrations.ts';
import { toAttempt, parseJson, selectDeliveries, toDeliveries, type DeliveryRow } from './delivery-log-rows.ts';
import type { SettingsStore } from './settings-store.ts';
import type { Store } from './store/store-contract.ts';
import type { Catalogue } from './catalogue.ts';
import type { DeliveryLog } from './webhooks.ts';
import { checkEligibility } from './eligibility.ts';
import type { Circuits } from './worker/circuits.ts';

const { deliveries, attempts, events } = tables;

export interface DeliveryLogParts {
  readonly host: Pick<HostApi, 'database' | 'hooks' | 'plugin'>;
  readonly settings: SettingsStore;
  readonly store: Store;
  readonly catalogue: Catalogue;
  readonly circuits: Circuits;
  readonly wake: (endpointIds?: readonly string[]) => void;
}

type LogReading = Pick<
  DeliveryLog,
  'list' | 'get' | 'recentEvents' | 'recentFailures' | 'retry' | 'clear' | 'checkEligibility'
>;

/** Lists deliveries, reads one with its attempts, and retries or clears failed ones (contract 3). */
export function createDeliveryLog({ host, settings, store, catalogue, circuits, wake }: DeliveryLogParts): LogReading {
  const { database, hooks } = host;
  const convert = (rows: readonly DeliveryRow[]): Promise<Delivery[]> => toDeliveries({ settings, store }, rows);

  return {
    async list(filter, { before, limit = 50 } = {}) {
      const pageSize = Math.max(1, Math.min(200, Math.floor(limit)));
      const query = selectDeliveries(database, filter)
        .orderBy('d.id', 'desc')
        .limit(pageSize + 1);
      if (before !== undefined) void query.where('d.id', '<', Number(before) || 0);
      const rows = (await query) as DeliveryRow[];
      const page = rows.slice(0, pageSize);
      const all = await convert(page);
      const matching =
        filter?.state === 'pending' || filter?.state === 'delivering'
          ? all.filter(({ state }) => state === filter.state)
          : all;
      return { deliveries: matching, next: rows.length > pageSize ? String(page.at(-1)?.id ?? '') : null };
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
      const [delivery] = await convert([row]);
      return {
        ...(delivery as Delivery),
        body: Buffer.from(row.body ?? row.event_body ?? '').toString(),
        isTemporary: row.body_state === bodyStates.temporary,
        bodyDeletedAt: row.body_deleted_at === null ? null : Number(row.body_deleted_at),
        attemptLog: logs
          .filter(({ log }) => parseJson(log) !== null)
          .map(({ number, log }) =>
            toAttempt(number, log, { row, userAgent: `${host.plugin.slug}/${host.plugin.version}` }),
          ),
      } satisfies DeliveryDetail;
    },
    async recentEvents(limit) {
      const rows: { body: Uint8Array }[] = await database
        .knex(events)
        .where({ body_state: bodyStates.stored })
        .orderBy('id', 'desc')
        .limit(limit)
        .select('body');
      return rows.map(({ body }) => JSON.parse(Buffer.from(body).toString()) as Envelope);
    },
    async recentFailures(limit = 5) {
      return convert(
        (await selectDeliveries(database, { state: 'failed' })
          .where('d.cleared', 0)
          .orderBy('d.id', 'desc')
          .limit(limit)) as DeliveryRow[],
      );
    },
    async retry(id, attempts) {
      const expected = { state: 'failed', ...(attempts !== undefined && { attempts }) } as const;
      const row: { id: number; endpoint_id: string; event_id: number } | undefined = await database
        .knex(deliveries)
        .where({ uuid: id, ...expected })
        .first('id', 'endpoint_id', 'event_id');
      if (!row) return false;
      if ((await withoutBody(database.knex).where({ id: row.event_id }).first('id')) !== undefined)
        throw errors.delivery_body_deleted();
      if (!(await requeue(host, [row.id], expected))) return false;
      wake([row.endpoint_id]);
      return true;
    },
    async clear(id) {
      return (
        (await database.knex(deliveries).where({ uuid: id, state: 'failed', cleared: 0 }).update({ cleared: 1 })) > 0
      );
    },
    checkEligibility: (event, endpointId) =>
      checkEligibility({ hooks, settings, catalogue, circuits }, event, endpointId),
  };
}

/** Events whose body was deleted: their deliveries cannot be sent again. */
export function withoutBody(knex: Knex) {
  return knex(events).whereIn('body_state', [bodyStates.notKept, bodyStates.erased]);
}

/** Starts a new series of attempts for finished deliveries. `expected` makes a second click on an old page do nothing. */
export async function requeue(
  { database }: Pick<HostApi, 'database'>,
  ids: readonly number[],
  expected: { readonly state?: 'delivered' | 'failed'; readonly attempts?: number } = {},
): Promise<number> {
  const { knex } = database;
  // Not 0: claims look for jobs that are due at once only among the newest ids.
  return knex(deliveries)
    .whereIn('id', [...ids])
    .whereNull('due_at')
    .whereNotIn(
      'event_id',
      withoutBody(knex)
        .whereIn(
          'id',
          knex(deliveries)
            .whereIn('id', [...ids])
            .select('event_id'),
        )
        .select('id'),
    )
    .where(expected)
    .update({
      state: 'pending',
      due_at: database.now(),
      run_start: knex.ref('attempts'),
      finished_at: null,
      cleared: 0,
    });
}
