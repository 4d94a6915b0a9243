import { randomUUID } from 'node:crypto';
import type { HostApi } from '#plugin-api';
import type { VideoOperation } from '../../../ai/generate-videos.ts';
import type { ImageParams } from '../../../kit/image-params.ts';
import { imageTables } from '../image-tables.ts';

/** Time without a renewal after which another process continues a job, in milliseconds. */
const leaseDuration = 60_000;
/** Milliseconds between two lease renewals. */
export const heartbeatInterval = 15_000;

/** A requested video. */
export interface VideoRequestData {
  readonly prompt: string;
  /** Id. */
  readonly provider: string;
  /** Default: the saved video model of the provider. */
  readonly model?: string | undefined;
  /** Default: that of the model. */
  readonly size?: ImageParams['size'];
  readonly seconds?: number | undefined;
}

/** `starting`: the request is being sent. If a process ends then, the upstream may have accepted it or not. */
export type VideoState = 'queued' | 'starting' | 'running' | 'done' | 'failed';

export interface VideoJob {
  /** UUID. The key of its event (D19), and the `request` of its videos in the history. */
  readonly id: string;
  readonly state: VideoState;
  /** 0: a command. */
  readonly userId: number;
  readonly request: VideoRequestData;
  /** Null until the upstream has accepted it. */
  readonly operation: VideoOperation | null;
  /** Why it failed. */
  readonly message: string;
  readonly lease: string | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** Jobs in the database, for all nodes. Writes under a lost lease have no effect and return false. */
export interface VideoJobs {
  add(request: VideoRequestData, userId: number): Promise<VideoJob>;
  get(id: string): Promise<VideoJob | null>;
  /** Newest first, at most 20. */
  recent(): Promise<readonly VideoJob[]>;
  /** Claims one job that no process works on: this one, or any. */
  claim(id?: string): Promise<VideoJob | null>;
  renew(job: VideoJob): Promise<boolean>;
  setStarting(job: VideoJob): Promise<boolean>;
  setStarted(job: VideoJob, operation: VideoOperation): Promise<boolean>;
  /** Ends the job. Call it first in the transaction that stores the videos. */
  end(job: VideoJob, result: { readonly state: 'done' | 'failed'; readonly message: string }): Promise<boolean>;
  /** Lets another process continue at once. */
  release(job: VideoJob): Promise<void>;
  /** Deletes ended jobs that were created before a time, in milliseconds since the epoch. */
  sweep(before: number): Promise<void>;
}

interface Row {
  readonly id: string;
  readonly state: VideoState;
  readonly user_id: number | string;
  readonly request: string;
  readonly operation: string | null;
  readonly message: string;
  readonly lease: string | null;
  readonly created_at: number | string;
}

export function createVideoJobs({ database, clock }: Pick<HostApi, 'database' | 'clock'>): VideoJobs {
  const table = () => database.knex(imageTables.videos);
  const leaseEnd = (): number => database.knex.raw('? + ?', [database.now(), leaseDuration]) as unknown as number;
  const held = ({ id, lease }: VideoJob) =>
    table().where({ id, lease }).whereIn('state', ['queued', 'starting', 'running']);

  return {
    async add(request, userId) {
      const [row] = (await table()
        .insert({
          id: randomUUID(),
          state: 'queued',
          user_id: userId,
          request: JSON.stringify(request),
          message: '',
          lease_until: 0,
          created_at: clock.now(),
        })
        .returning('*')) as [Row];
      return jobOf(row);
    },
    async get(id) {
      const row = (await table().where({ id }).first()) as Row | undefined;
      return row === undefined ? null : jobOf(row);
    },
    recent: async () => ((await table().orderBy('created_at', 'desc').limit(20)) as Row[]).map(jobOf),
    async claim(id) {
      const due = () =>
        table()
          .whereIn('state', ['queued', 'starting', 'running'])
          .where('lease_until', '<=', database.now())
          .where(id === undefined ? {} : { id });
      const found = (await due().orderBy('created_at').first('id')) as Pick<Row, 'id'> | undefined;
      if (found === undefined) return null;
      // Of two processes, the second updates no row.
      const [row] = (await due()
        .where({ id: found.id })
        .update({ lease: randomUUID(), lease_until: leaseEnd() })
        .returning('*')) as Row[];
      return row === undefined ? null : jobOf(row);
    },
    renew: async (job) => (await held(job).update({ lease_until: leaseEnd() })) > 0,
    setStarting: async (job) => (await held(job).update({ state: 'starting', lease_until: leaseEnd() })) > 0,
    setStarted: async (job, operation) =>
      (await held(job).update({ state: 'running', operation: JSON.stringify(operation) })) > 0,
    end: async (job, result) => (await held(job).update({ ...result, lease: null })) > 0,
    async release(job) {
      await held(job).update({ lease: null, lease_until: 0 });
    },
    async sweep(before) {
      await table().whereIn('state', ['done', 'failed']).where('created_at', '<', before).delete();
    },
  };
}

function jobOf(row: Row): VideoJob {
  return {
    id: row.id,
    state: row.state,
    userId: Number(row.user_id),
    request: JSON.parse(row.request) as VideoRequestData,
    operation: row.operation === null ? null : (JSON.parse(row.operation) as VideoOperation),
    message: row.message,
    lease: row.lease,
    createdAt: Number(row.created_at),
  };
}
