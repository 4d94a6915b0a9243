import { randomUUID } from 'node:crypto';
import type { HostApi, Knex } from '#plugin-api';
import type { Replay, ReplayRequest } from './delivery.ts';
import { tables } from './migrations.ts';
import { requeue, withoutBody } from './delivery-log.ts';
import type { DeliveryLog } from './webhooks.ts';

const { deliveries, events, replays } = tables;
const stepInterval = 1_000;
const defaultRate = 100;

interface ReplayRow {
  readonly id: string;
  readonly state: Replay['state'];
  readonly request: string;
  readonly cursor: number;
  readonly last: number;
  readonly replayed: number;
  readonly total: number;
  readonly without_body: number;
  readonly created_at: number;
  readonly moved_at: number;
}

export interface Replays extends Pick<DeliveryLog, 'replay' | 'replays' | 'stopReplay'> {
  /** Requeues one second's worth of deliveries of each replay, unless another node is doing so. Returns whether any is left. */
  step(): Promise<boolean>;
  /** Continues replays that were started earlier. */
  start(): void;
}

/** Replays deliveries at a limited rate and continues after a restart. Ids and bodies stay the same, timestamps are new. */
export function createReplays({
  host,
  wake,
}: {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'log'>;
  readonly wake: () => void;
}): Replays {
  const { database, clock, log } = host;
  let ticking: (() => void) | null = null;

  async function step(): Promise<boolean> {
    const running: ReplayRow[] = await database.knex(replays).where({ state: 'running' });
    let hasMore = false;
    for (const { id } of running) if (await stepOne(id)) hasMore = true;
    if (running.length > 0) wake();
    return hasMore;
  }

  async function stepOne(id: string): Promise<boolean> {
    return database.transaction(async (knex) => {
      const query = knex(replays).where({ id, state: 'running' });
      const row = (await (database.dialect === 'postgresql' ? query.forUpdate().skipLocked() : query).first()) as
        ReplayRow | undefined;
      if (!row) return false;
      const request = JSON.parse(row.request) as ReplayRequest;
      const ids: number[] = await selection(knex, request)
        .where('d.id', '>', row.cursor)
        .where('d.id', '<=', row.last)
        .orderBy('d.id')
        .limit(request.rate ?? defaultRate)
        .pluck('d.id');
      const count = ids.length === 0 ? 0 : await requeue(host, ids);
      const isDone = ids.length < (request.rate ?? defaultRate);
      await knex(replays)
        .where({ id })
        .update({
          cursor: ids.at(-1) ?? row.cursor,
          replayed: row.replayed + count,
          state: isDone ? 'done' : 'running',
          moved_at: clock.now(),
        });
      return !isDone;
    });
  }

  function tick(): void {
    ticking ??= clock.every(stepInterval, () => {
      step().then(
        (hasMore) => {
          if (hasMore) return;
          ticking?.();
          ticking = null;
        },
        (error: unknown) =>
          log.warn('Failed to continue a replay of webhook deliveries; retrying', {
            event: 'webhook_replay_failed',
            error,
          }),
      );
    });
  }

  return {
    step,
    start: tick,
    async replay(request) {
      const wanted = () => selection(database.knex, request);
      const isDeleted = withoutBody(database.knex).whereRaw('id = d.event_id').select('id');
      const deleted = (await wanted().whereExists(isDeleted).count('d.id as total').first()) as {
        total: number | string;
      };
      const found = (await wanted().whereNotExists(isDeleted).max('d.id as last').count('d.id as total').first()) as
        { last: number | null; total: number | string } | undefined;
      const row = {
        id: randomUUID(),
        state: 'running' as const,
        request: JSON.stringify(request),
        cursor: 0,
        last: found?.last ?? 0,
        total: Number(found?.total ?? 0),
        replayed: 0,
        without_body: Number(deleted.total),
        created_at: clock.now(),
        moved_at: 0,
      };
      await database.knex(replays).insert(row);
      if (await step()) tick();
      return toReplay((await database.knex(replays).where({ id: row.id }).first()) as ReplayRow);
    },
    replays: async () =>
      ((await database.knex(replays).orderBy('created_at', 'desc').limit(50)) as ReplayRow[]).map(toReplay),
    stopReplay: async (id) =>
      (await database.knex(replays).where({ id, state: 'running' }).update({ state: 'stopped' })) > 0,
  };
}

function selection(knex: Knex, { deliveries: uuids, since, until, endpointId, event, state }: ReplayRequest) {
  const query = knex(`${deliveries} as d`).whereNull('d.due_at');
  if (uuids) void query.whereIn('d.uuid', [...uuids]);
  if (since !== undefined) void query.where('d.created_at', '>=', since);
  if (until !== undefined) void query.where('d.created_at', '<=', until);
  if (endpointId) void query.where('d.endpoint_id', endpointId);
  if (state) void query.where('d.state', state);
  if (event) void query.whereIn('d.event_id', knex(events).where({ name: event }).select('id'));
  return query;
}

function toReplay({ id, state, replayed, total, without_body: withoutBody, created_at: createdAt }: ReplayRow): Replay {
  return {
    id,
    state,
    replayed: Number(replayed),
    total: Number(total),
    withoutBody: Number(withoutBody),
    createdAt: Number(createdAt),
  };
}
