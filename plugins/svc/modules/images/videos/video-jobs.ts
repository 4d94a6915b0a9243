import { randomUUID } from 'node:crypto';
import { createRowMapper, type HostApi } from '#plugin-api';
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

const { fromRow, toRow, first, all } = createRowMapper<VideoJob>({ json: ['request', 'operation'] });

export function createVideoJobs({ database, clock }: Pick<HostApi, 'database' | 'clock'>): VideoJobs {
  const table = () => database.knex(imageTables.videos);
  const open = (id: string) => table().where({ id }).whereIn('state', ['queued', 'starting', 'running']);

  return {
    async add(request, userId) {
      const job = { id: randomUUID(), state: 'queued', userId, request, message: '', createdAt: clock.now() } as const;
      const [row] = (await table().insert(toRow(job)).returning('*')) as [object];
      return fromRow(row);
    },
    get: (id) => first(table().where({ id })),
    recent: () => all(table().orderBy('created_at', 'desc').limit(20)),
    setStarting: async (id) => (await table().where({ id, state: 'queued' }).update({ state: 'starting' })) > 0,
    async setStarted(id, operation) {
      await open(id).update(toRow({ state: 'running', operation }));
    },
    async end(id, result) {
      await open(id).update(result);
    },
    async sweep(before) {
      await table().whereIn('state', ['done', 'failed']).where('created_at', '<', before).delete();
    },
  };
}
