import { randomUUID } from 'node:crypto';
import type { HostApi } from '#plugin-api';
import type { VideoOperation } from '../../../ai/generate-videos.ts';
import type { ImageParams } from '../../../kit/image-params.ts';
import { imageTables } from '../image-tables.ts';

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
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** The requested videos and how far each has come. */
export interface VideoJobs {
  add(request: VideoRequestData, userId: number): Promise<VideoJob>;
  get(id: string): Promise<VideoJob | null>;
  /** Newest first, at most 20. */
  recent(): Promise<readonly VideoJob[]>;
  /** False: another attempt has begun. */
  setStarting(id: string): Promise<boolean>;
  setStarted(id: string, operation: VideoOperation): Promise<void>;
  /** Ends the job, unless it has ended. */
  end(id: string, result: { readonly state: 'done' | 'failed'; readonly message: string }): Promise<void>;
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
  readonly created_at: number | string;
}

export function createVideoJobs({ database, clock }: Pick<HostApi, 'database' | 'clock'>): VideoJobs {
  const table = () => database.knex(imageTables.videos);
  const open = (id: string) => table().where({ id }).whereIn('state', ['queued', 'starting', 'running']);

  return {
    async add(request, userId) {
      const [row] = (await table()
        .insert({
          id: randomUUID(),
          state: 'queued',
          user_id: userId,
          request: JSON.stringify(request),
          message: '',
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
    setStarting: async (id) => (await table().where({ id, state: 'queued' }).update({ state: 'starting' })) > 0,
    async setStarted(id, operation) {
      await open(id).update({ state: 'running', operation: JSON.stringify(operation) });
    },
    async end(id, result) {
      await open(id).update(result);
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
    createdAt: Number(row.created_at),
  };
}
