import { RestError, type HostApi } from '#plugin-api';
import type { GeneratedVideos, GenerateVideos } from '../../../ai/generate-videos.ts';
import { errors } from '../../../kit/errors.ts';
import { deleteMedia, sendImageEvent, shareOf } from '../generation/image-generator.ts';
import '../hooks.ts';
import type { ImageStore, NewImage } from '../store/image.ts';
import { heartbeatInterval, type VideoJob, type VideoJobs, type VideoRequestData } from './video-jobs.ts';

/** Generates videos in the background. Jobs survive restarts: another process, or the same one later, continues them. */
export interface VideoGenerator {
  /** Stores a job and works on it in the background. @throws what `svc_video_job` throws */
  add(request: VideoRequestData, userId: number): Promise<VideoJob>;
  /** Works on jobs that no process works on, until there is none. Never throws. */
  work(): Promise<void>;
  /** Waits until this process works on no job. */
  idle(): Promise<void>;
  /** Releases the jobs of this process. */
  stop(): Promise<void>;
}

export interface VideoGeneratorParts {
  readonly host: Pick<HostApi, 'content' | 'hooks' | 'database' | 'clock' | 'log'>;
  readonly store: ImageStore;
  readonly jobs: VideoJobs;
  readonly generateVideos: GenerateVideos;
}

/** Jobs of one process at a time: they only wait. */
const concurrency = 8;
const origin = 'admin_image_generator';

export function createVideoGenerator(parts: VideoGeneratorParts): VideoGenerator {
  const { host, jobs } = parts;
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();

  async function claimAndRun(id?: string): Promise<boolean> {
    const job = stopping.signal.aborted || running.size >= concurrency ? null : await jobs.claim(id);
    if (job === null) return false;
    const one: Promise<void> = runJob(parts, job, stopping.signal).finally(() => running.delete(one));
    running.add(one);
    return true;
  }

  return {
    async add(given, userId) {
      const job = await jobs.add(await host.hooks.applyFiltersAsync('svc_video_job', given, userId), userId);
      await claimAndRun(job.id);
      return job;
    },
    async work() {
      try {
        while (await claimAndRun());
      } catch (error) {
        host.log.error('Failed to claim video jobs; cron tries again', { event: 'video_jobs_not_claimed', error });
      }
    },
    async idle() {
      while (running.size > 0) await Promise.all(running);
    },
    async stop() {
      stopping.abort(new Error('The process is shutting down.'));
      await Promise.all(running);
    },
  };
}

/** Works on a job under its lease. Never throws. */
async function runJob(parts: VideoGeneratorParts, job: VideoJob, stopped: AbortSignal): Promise<void> {
  const { host, jobs } = parts;
  const lost = new AbortController();
  const undo = host.clock.every(heartbeatInterval, () => {
    jobs.renew(job).then(
      (isHeld) => {
        if (!isHeld) lost.abort(new Error('Another process works on the job.'));
      },
      (error: unknown) =>
        host.log.warn('Failed to renew the lease of a video job', { event: 'video_lease_renewal_failed', error }),
    );
  });
  const signal = AbortSignal.any([stopped, lost.signal]);
  try {
    await commit(parts, job, await generate(parts, job, signal));
  } catch (error) {
    await settle(parts, job, { error, isStopped: signal.aborted });
  } finally {
    undo();
  }
}

async function generate(
  { jobs, generateVideos }: VideoGeneratorParts,
  job: VideoJob,
  signal: AbortSignal,
): Promise<GeneratedVideos> {
  const { operation, request, userId } = job;
  if (operation === null) {
    // Sending it again could cost the same again.
    if (job.state === 'starting') throw errors.video_start_unknown();
    if (!(await jobs.setStarting(job))) throw new Error('The lease of the video job is lost.');
  }
  return generateVideos({
    ...request,
    userId,
    signal,
    origin: { module: 'images', route: null, botId: null, reference: `video:${job.id}` },
    ...(operation !== null && { operation }),
    onStarted: async (started) => {
      await jobs.setStarted(job, started);
    },
  });
}

/** Ends the job, stores the videos and sends their event, in one transaction. Videos that cannot be stored are deleted. */
async function commit({ host, jobs, store }: VideoGeneratorParts, job: VideoJob, made: GeneratedVideos): Promise<void> {
  try {
    const videos = await host.database.transaction(async () => {
      if (!(await jobs.end(job, { state: 'done', message: '' })))
        throw new Error('The lease of the video job is lost.');
      const added = await store.add(historyOf(job, made), { pending: false });
      await sendImageEvent(host, added);
      return added;
    });
    await host.hooks.doActionAsync('svc_image_generated', videos, null);
  } catch (error) {
    await deleteMedia(
      host,
      made.videos.map(({ id }) => id),
    );
    throw error;
  }
}

/** Ends a failed job. A job that was only interrupted is continued: its operation goes on at the provider. */
async function settle(
  { host, jobs }: VideoGeneratorParts,
  job: VideoJob,
  { error, isStopped }: { readonly error: unknown; readonly isStopped: boolean },
): Promise<void> {
  try {
    const isKnown = error instanceof RestError;
    if (isStopped) return await jobs.release(job);
    if (!isKnown) host.log.error('Failed to generate a video', { event: 'video_failed', video: job.id, error });
    const message = isKnown ? error.message : 'An internal error occurred. See the log for details.';
    await jobs.end(job, { state: 'failed', message });
    await host.hooks.doActionAsync('svc_video_failed', error, job);
  } catch (failure) {
    // The lease expires, and the job is claimed again.
    host.log.error('Failed to store the result of a video job', {
      event: 'video_result_lost',
      video: job.id,
      error: failure,
    });
  }
}

function historyOf(
  { id: request, userId, request: { prompt, size } }: VideoJob,
  { videos, usage, cost, provider, providerId, model }: GeneratedVideos,
): NewImage[] {
  return videos.map((media, position) => ({
    request,
    position,
    prompt,
    origin,
    userId,
    sessionId: null,
    provider,
    providerId,
    model,
    usage,
    mode: 'generate',
    mediaId: media.id,
    url: media.url,
    mimeType: media.mimeType,
    bytes: media.size,
    parentId: null,
    sourceMediaId: null,
    revisedPrompt: null,
    asked: size === undefined ? {} : { size },
    cost: cost === null ? null : shareOf(cost, { position, count: videos.length }),
  }));
}
