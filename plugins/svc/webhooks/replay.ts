import { randomUUID } from 'node:crypto';
import type { HostApi, JobStatus, Knex, RunningJob } from '#plugin-api';
import type { Replay, ReplayRequest } from './delivery.ts';
import { replayJob, tables } from './migrations.ts';
import { requeue, withoutBody } from './delivery-log.ts';
import type { DeliveryLog } from './webhooks.ts';

const { deliveries, events } = tables;
const stepInterval = 1_000;
const defaultRate = 100;
const mostListed = 50;

/** A replay and how far it is. Changes with each step. */
export type ReplayArgs = {
  readonly request: Pick<ReplayRequest, keyof ReplayRequest>;
  /** Id of the last delivery that was queued again. */
  readonly cursor: number;
  /** Id of the last delivery that matched when the replay was created. */
  readonly last: number;
  readonly replayed: number;
  readonly total: number;
  readonly withoutBody: number;
  readonly isDone: boolean;
};

export interface Replays extends Pick<DeliveryLog, 'replay' | 'replays' | 'stopReplay'> {
  /** Does the work of the job: one second's worth of deliveries at a time. */
  run(args: ReplayArgs, job: Pick<RunningJob, 'checkpoint' | 'progress' | 'signal'>): Promise<void>;
}

/** Replays deliveries at a limited rate and continues after a restart. Ids and bodies stay the same, timestamps are new. */
export function createReplays({
  host,
  wake,
}: {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'jobs'>;
  readonly wake: () => void;
}): Replays {
  const { database, clock, jobs } = host;

  async function step(knex: Knex, replay: ReplayArgs): Promise<ReplayArgs> {
    const { request, cursor, last, replayed } = replay;
    const rate = request.rate ?? defaultRate;
    const ids: number[] = await selection(knex, request)
      .where('d.id', '>', cursor)
      .where('d.id', '<=', last)
      .orderBy('d.id')
      .limit(rate)
      .pluck('d.id');
    const count = ids.length === 0 ? 0 : await requeue(host, ids);
    database.afterCommit(wake);
    return { ...replay, cursor: ids.at(-1) ?? cursor, replayed: replayed + count, isDone: ids.length < rate };
  }

  return {
    async run(args, { checkpoint, progress, signal }) {
      let replay = args;
      for (;;) {
        progress(replay.replayed, replay.total);
        if (replay.isDone) return;
        await clock.sleep(stepInterval, signal);
        replay = await checkpoint((transaction) => step(transaction, replay));
      }
    },
    async replay(request) {
      const wanted = () => selection(database.knex, request);
      const isDeleted = withoutBody(database.knex).whereRaw('id = d.event_id').select('id');
      const deleted = (await wanted().whereExists(isDeleted).count('d.id as total').first()) as {
        total: number | string;
      };
      const found = (await wanted().whereNotExists(isDeleted).max('d.id as last').count('d.id as total').first()) as
        { last: number | null; total: number | string } | undefined;
      const args: ReplayArgs = {
        request,
        cursor: 0,
        last: Number(found?.last ?? 0),
        replayed: 0,
        total: Number(found?.total ?? 0),
        withoutBody: Number(deleted.total),
        isDone: false,
      };
      const key = randomUUID();
      const first = await database.transaction(async (transaction) => {
        const stepped = await step(transaction, args);
        await jobs.add(replayJob, stepped, { key });
        return stepped;
      });
      return toReplay({ key, args: first, state: 'waiting', createdAt: clock.now() });
    },
    replays: async () => (await jobs.list({ name: replayJob }, mostListed)).map(toReplay),
    stopReplay: async (id) => (await jobs.cancel({ name: replayJob, key: id })) > 0,
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

function toReplay({ key, args, state, createdAt }: Pick<JobStatus, 'key' | 'args' | 'state' | 'createdAt'>): Replay {
  const { replayed, total, withoutBody, isDone } = args as unknown as ReplayArgs;
  const isStopped = state === 'cancelled' || state === 'failed';
  return {
    id: key ?? '',
    state: isDone ? 'done' : isStopped ? 'stopped' : 'running',
    replayed,
    total,
    withoutBody,
    createdAt,
  };
}
