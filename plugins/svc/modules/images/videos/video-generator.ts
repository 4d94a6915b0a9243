import { JobLostError, RestError, type HostApi, type RunningJob } from '#plugin-api';
import type { GeneratedVideos, GenerateVideos } from '../../../ai/generate-videos.ts';
import { errors } from '../../../kit/errors.ts';
import { deleteMedia, sendImageEvent, shareOf } from '../generation/image-generator.ts';
import '../hooks.ts';
import { videoJob } from '../image-names.ts';
import type { ImageStore, NewImage } from '../store/image.ts';
import type { VideoJob, VideoJobs, VideoRequestData } from './video-jobs.ts';

/** Generates videos as jobs of the host, which survive restarts: another process, or the same one later, continues them. */
export interface VideoGenerator {
  /** Stores a video and its job. @throws what `svc_video_job` throws */
  add(request: VideoRequestData, userId: number): Promise<VideoJob>;
  /** Works on a job. */
  run(id: string, running: RunningJob): Promise<void>;
  /** Ends a job that was cancelled, or whose processes ended too often. */
  fail(id: string, message: string): Promise<void>;
}

export interface VideoGeneratorParts {
  readonly host: Pick<HostApi, 'content' | 'hooks' | 'database' | 'jobs' | 'log'>;
  readonly store: ImageStore;
  readonly jobs: VideoJobs;
  readonly generateVideos: GenerateVideos;
}

const origin = 'admin_image_generator';

export function createVideoGenerator(parts: VideoGeneratorParts): VideoGenerator {
  const { host, jobs } = parts;
  return {
    add: (given, userId) =>
      host.database.transaction(async () => {
        const job = await jobs.add(await host.hooks.applyFiltersAsync('svc_video_job', given, userId), userId);
        await host.jobs.add(videoJob, { id: job.id }, { key: job.id });
        return job;
      }),
    async run(id, running) {
      const job = await jobs.get(id);
      if (job === null || job.state === 'done' || job.state === 'failed') return;
      try {
        await commit(parts, { job, made: await generate(parts, job, running.signal), running });
      } catch (error) {
        // A job that was only interrupted is continued: its operation goes on at the provider.
        if (running.signal.aborted || error instanceof JobLostError) throw error;
        const isKnown = error instanceof RestError;
        if (!isKnown) host.log.error('Failed to generate a video', { event: 'video_failed', video: id, error });
        const message = isKnown ? error.message : 'An internal error occurred. See the log for details.';
        await running.commit(() => jobs.end(id, { state: 'failed', message }));
        await host.hooks.doActionAsync('svc_video_failed', error, job);
      }
    },
    fail: (id, message) => jobs.end(id, { state: 'failed', message }),
  };
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
    if (!(await jobs.setStarting(job.id))) throw new JobLostError();
  }
  return generateVideos({
    ...request,
    userId,
    signal,
    origin: { module: 'images', route: null, botId: null, reference: `video:${job.id}`, userId },
    ...(operation !== null && { operation }),
    onStarted: (started) => jobs.setStarted(job.id, started),
  });
}

/** Ends the job, stores the videos and sends their event, in one transaction. Videos that cannot be stored are deleted. */
async function commit(
  { host, jobs, store }: VideoGeneratorParts,
  { job, made, running }: { readonly job: VideoJob; readonly made: GeneratedVideos; readonly running: RunningJob },
): Promise<void> {
  try {
    await running.commit(async () => {
      await jobs.end(job.id, { state: 'done', message: '' });
      const videos = await store.add(historyOf(job, made), { pending: false });
      await sendImageEvent(host, videos);
      host.database.afterCommit(() => void host.hooks.doActionAsync('svc_image_generated', videos, null));
    });
  } catch (error) {
    await deleteMedia(
      host,
      made.videos.map(({ id }) => id),
    );
    throw error;
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
