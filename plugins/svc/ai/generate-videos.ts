import { RestError, type HostApi, type Media } from '#plugin-api';
import { errors } from '../kit/errors.ts';
import { asProviderError, ProviderError } from '../providers/provider.ts';
import type { ImageSize, ProviderSettings, VideoOperation, VideoOutput } from '../providers/provider.ts';
import { capableProvider, chosenModel, type Capable } from './capable-provider.ts';
import { shortened } from './deliver-image.ts';
import { fetchVideo, type VideoBytes } from './fetch-output.ts';
import type { GenerateImagesInput } from './generate-images.ts';
import { billedUsage } from './billed-attempt.ts';
import { estimateTokens } from './estimate-tokens.ts';
import { runUnrecorded, type AiServices, type CallResult, type UsageCounts } from './ports.ts';
import { configuredSettings, connectionOf } from './provider-connection.ts';
import { withRetries } from './retry.ts';
import { providerFailure } from './upstream-failure.ts';

export type { VideoOperation };

export interface GenerateVideosInput extends Pick<
  GenerateImagesInput,
  'provider' | 'model' | 'prompt' | 'userId' | 'signal' | 'origin'
> {
  readonly size?: ImageSize | undefined;
  readonly seconds?: number | undefined;
  /** The job to continue, which was started before. Default: a new one is started. */
  readonly operation?: VideoOperation | undefined;
  /** Called and awaited right after the upstream has accepted a new job, to store it. */
  readonly onStarted?: ((operation: VideoOperation) => Promise<void>) | undefined;
}

export interface GeneratedVideos extends CallResult {
  /** At least one, in the media library. */
  readonly videos: readonly Pick<Media, 'id' | 'url' | 'size' | 'mimeType'>[];
  readonly usage: Readonly<Record<string, unknown>> | null;
}

export type GenerateVideos = (input: GenerateVideosInput) => Promise<GeneratedVideos>;

export type VideoServices = AiServices & { readonly host: Pick<HostApi, 'content' | 'http'> };

/** Time limit of a video in milliseconds: starting, checking, fetching. */
export const videoTimeout = 15 * 60_000;
/** Of one exchange with the provider. */
const exchangeTimeout = 60_000;
/** Between two checks: 2 s at first, so that a quick upstream is not waited for. */
const waits = [2_000, 4_000, 6_000, 8_000];
const longestWait = 10_000;

/**
 * Videos from a provider (contract 6.5), in the media library. The job runs at the provider: it is started once, never
 * retried after it was sent, and then checked every ten seconds until it is done. With `operation`, the same job is
 * continued after a restart or by another node, and is not paid for again.
 *
 * @throws RestError of D5; 499 `rest_svc_request_aborted` when the signal aborts, and the job can be continued.
 */
export function createGenerateVideos(services: VideoServices): GenerateVideos {
  return async (input) => {
    const { registry, recordUsage = runUnrecorded } = services;
    const provider = capableProvider(registry, input.provider, 'videos');
    const settings = await configuredSettings(provider, services, { origin: input.origin, model: input.model });
    const model =
      input.operation?.model ??
      chosenModel({ requested: input.model, saved: settings.video_model, provider, setting: 'video_model' });
    const job: Job = {
      input,
      provider,
      settings,
      model,
      deadline: services.host.clock.now() + videoTimeout,
      started: input.operation ?? null,
    };
    let seconds = 0;
    let failed: unknown = null;
    return recordUsage({
      kind: 'video',
      provider: provider.id,
      model,
      origin: input.origin,
      limit: videoTimeout,
      // Videos are paid for by their length.
      estimate: async () => ({ inputTokens: 0, outputTokens: 0, images: 0, seconds: requestedSeconds(job) }),
      run: async () => {
        try {
          const finished = await finish(services, job);
          seconds = finished.seconds * finished.videos.length;
          return finished;
        } catch (thrown) {
          failed = thrown;
          const error = asProviderError(thrown);
          throw error === null ? thrown : providerFailure(error, provider, videoTimeout);
        }
      },
      count: () => ({ model, seconds }),
      countFailed: async () => ({ model, ...(await countFailed(job, failed, services.host)) }),
    });
  };
}

interface Job {
  readonly input: GenerateVideosInput;
  readonly provider: Capable<'videos'>;
  readonly settings: ProviderSettings;
  readonly model: string;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
  /** What the provider has accepted. */
  started: VideoOperation | null;
}

function requestedSeconds({ input, provider, model, settings }: Job): number {
  return input.seconds ?? Math.max(10, ...provider.videos.takes(model, settings).seconds);
}

/**
 * What a failed call may cost (D51): the video, unless the provider refused it or did not make it; then what was sent. An
 * aborted job goes on, and is counted when it is continued.
 */
async function countFailed(
  job: Job,
  thrown: unknown,
  host: AiServices['host'],
): Promise<Partial<Pick<UsageCounts, 'inputTokens' | 'seconds'>>> {
  const { started, input } = job;
  const error = asProviderError(thrown);
  if (started === null && billedUsage(thrown, { isSent: true }) === null) return {};
  if (started !== null && error?.kind === 'aborted') return {};
  const inputTokens = await estimateTokens([input.prompt], host);
  return error?.kind === 'rejected'
    ? { inputTokens }
    : { inputTokens, seconds: started?.seconds ?? requestedSeconds(job) };
}

async function finish(
  services: VideoServices,
  job: Job,
): Promise<Omit<GeneratedVideos, 'cost'> & { readonly seconds: number }> {
  const { input, provider, settings, model, deadline } = job;
  const { host } = services;
  const { signal, prompt, size, seconds, userId = 0 } = input;
  let { operation } = input;
  if (operation === undefined) {
    const request = { model, prompt, ...(size && { size }), ...(seconds !== undefined && { seconds }) };
    // Not aborted by the signal: a request that was sent may be paid for, and its operation must be stored.
    const open = connectionOf(services, { settings, timeout: exchangeTimeout });
    operation = await provider.videos.start(request, open);
    job.started = operation;
    await input.onStarted?.(operation);
  }
  const { videos, usage } = await waitUntilDone(services, job, operation);
  const saved = [];
  for (const video of videos) {
    const fetched = await withRetries((timeout) => fetchVideo(video, { http: host.http, settings, timeout, signal }), {
      services,
      provider: provider.id,
      deadline,
      signal,
    });
    saved.push(await save(host, fetched, { prompt, userId }));
  }
  return {
    videos: saved,
    usage,
    seconds: operation.seconds,
    providerId: provider.id,
    provider: provider.label,
    model: operation.model,
    ignored: operation.ignored,
  };
}

/** Checks the operation until it is done or the deadline has passed. @throws ProviderError */
async function waitUntilDone(
  services: VideoServices,
  { provider, settings, deadline, input: { signal } }: Job,
  operation: VideoOperation,
): Promise<{ readonly videos: readonly VideoOutput[]; readonly usage: Readonly<Record<string, unknown>> | null }> {
  const connect = (timeLeft: number) =>
    connectionOf(services, { settings, timeout: Math.min(timeLeft, exchangeTimeout), signal });
  const { clock } = services.host;
  for (let checks = 0; ; checks += 1) {
    const progress = await withRetries((timeLeft) => provider.videos.check(operation, connect(timeLeft)), {
      services,
      provider: provider.id,
      deadline,
      signal,
    });
    if (progress.state === 'done') return progress;
    const wait = waits[checks] ?? longestWait;
    if (clock.now() + wait >= deadline)
      throw new ProviderError({ kind: 'timeout', message: 'the video was not ready in time.' });
    await clock.sleep(wait, signal).catch((reason: unknown) => {
      throw new ProviderError({ kind: 'aborted', message: 'the request was aborted.', cause: reason });
    });
  }
}

async function save(
  host: Pick<HostApi, 'content' | 'log'>,
  { bytes, extension }: VideoBytes,
  { prompt, userId }: { readonly prompt: string; readonly userId: number },
): Promise<Media> {
  try {
    return await host.content.media.save({
      bytes,
      name: `generated.${extension}`,
      title: shortened(prompt, 100),
      ...(userId > 0 && { authorId: userId }),
    });
  } catch (error) {
    host.log.error('Failed to save a generated video in the media library', { event: 'video_not_saved', error });
    const reason = error instanceof RestError ? error.message : 'See the log for the cause.';
    throw errors.video_not_saved({ values: { reason }, cause: error });
  }
}
