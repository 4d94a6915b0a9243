import { isRecord, RestError, formatCount, type HostApi, withoutUndefined } from '#plugin-api';
import { supportedImageFields, type ImageParams } from '../kit/image-params.ts';
import { asProviderError, ProviderError } from '../providers/provider.ts';
import type { ImageRequest, ImageResult, ProviderConnection, ProviderSettings } from '../providers/provider.ts';
import { capableProvider, chosenModel, type Capable } from './capable-provider.ts';
import { deliverImage, type GeneratedImage, type ImageForm } from './deliver-image.ts';
import { makeImageCalls, type ImageCallOutcome } from './image-calls.ts';
import { usableSource, type ImageSource, type UsableSource } from './image-source.ts';
import { billedUsage } from './billed-attempt.ts';
import { countImageCalls, type FailedImages } from './count-images.ts';
import { estimateImages } from './estimate-tokens.ts';
import { requestedTarget, runUnrecorded, unwrapped } from './ports.ts';
import type { AiServices, CallResult, CallTarget, ProviderCall, UsageCounts } from './ports.ts';
import { configuredSettings, connectionOf } from './provider-connection.ts';
import { providerFailure } from './upstream-failure.ts';
import { withRetries } from './retry.ts';
import type { UsageOrigin } from '../kit/usage-origin.ts';

export interface GenerateImagesInput extends ImageParams {
  /** Id of a provider. */
  readonly provider: string;
  /** Model or deployment; blank or left out takes the provider's saved one. */
  readonly model?: string | undefined;
  /** Not blank. */
  readonly prompt: string;
  /** 1 to 10; default 1. */
  readonly n?: number | undefined;
  /** Default `url`. */
  readonly form?: ImageForm | undefined;
  /** Author of what is saved in the media library. Default: none. */
  readonly userId?: number | undefined;
  /** Saved images are private media: only their author and users who may read private posts see them. Default false. */
  readonly isPrivate?: boolean | undefined;
  /** An image to edit. Default: a new image is generated. */
  readonly source?: ImageSource | undefined;
  /** Called after each image with the number of images so far. */
  readonly onImage?: ((count: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** For the usage ledger. */
  readonly origin?: UsageOrigin | undefined;
}

export interface GeneratedImages extends CallResult {
  /** At least one, in the order of the calls. */
  readonly images: readonly GeneratedImage[];
  /** The provider's own usage data, summed over several calls, or null. */
  readonly usage: Readonly<Record<string, unknown>> | null;
  /** How many were generated, and why others failed: "2 images generated. 1 of 3 failed: ...". */
  readonly message: string;
}

export type GenerateImages = (input: GenerateImagesInput) => Promise<GeneratedImages>;

export type ImageServices = AiServices & { readonly host: Pick<HostApi, 'content' | 'http'> };

/**
 * Images from a provider (contract 4.3, D10): saved defaults, as many calls as `n` takes, retries (D9), and the requested
 * form, all within one time limit. If some images fail, the others are returned; if all fail, the first error is thrown as
 * the RestError of D5. Saved images are on every node that shares the uploads folder.
 */
export function createGenerateImages(services: ImageServices): GenerateImages {
  const { withFailover = unwrapped } = services;
  const call: ProviderCall<GenerateImagesInput, GeneratedImages> = (input, target) =>
    generateOnce(services, input, target);
  const generate = withFailover('images', call);
  return (input) => generate(input, requestedTarget(input));
}

async function generateOnce(
  services: ImageServices,
  input: GenerateImagesInput,
  target: CallTarget,
): Promise<GeneratedImages> {
  const { registry, settings, host, recordUsage = runUnrecorded } = services;
  const provider = capableProvider(registry, target.provider, 'images');
  const [saved, defaults, limits] = await Promise.all([
    configuredSettings(provider, services, { origin: input.origin, model: target.model }),
    settings.imageDefaults(),
    settings.timeouts(),
  ]);
  const model = chosenModel({ requested: target.model, saved: saved.image_model, provider, setting: 'image_model' });
  const source =
    input.source === undefined ? null : await usableSource(input.source, { provider, model, settings: saved, host });
  const job: Job = {
    input,
    provider,
    settings: saved,
    request: buildRequest(input, defaults, model),
    source,
    limit: limits.images,
    deadline: host.clock.now() + limits.images,
    unsaved: null,
    results: [],
    failed: [],
  };
  const count = () => countImages(job, services.host);
  let failures: readonly RestError[] = [];
  return recordUsage({
    kind: 'image',
    provider: provider.id,
    model,
    origin: input.origin,
    limit: limits.images,
    estimate: async () => ({
      ...(await estimateImages(input.prompt, input.n ?? 1, services.host)),
      ...pricedFields(job),
    }),
    run: async () => {
      const outcomes = await runCalls(job, services);
      failures = failuresOf(outcomes, job);
      return mergeOutcomes(outcomes, failures, job);
    },
    failedPart: () => failures[0],
    count,
    countFailed: count,
  });
}

interface Job {
  readonly input: GenerateImagesInput;
  readonly provider: Capable<'images'>;
  readonly settings: ProviderSettings;
  readonly request: Omit<ImageRequest, 'n'>;
  /** The image to edit, or null. */
  readonly source: UsableSource | null;
  /** Milliseconds. */
  readonly limit: number;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
  /** Why an image is returned as Base64 although it was to be saved; null if none is. */
  unsaved: string | null;
  /** What calls returned, images that could not be delivered included. */
  readonly results: ImageResult[];
  /** Attempts that failed and may be paid for (D51). */
  readonly failed: FailedImages[];
}

function buildRequest(input: GenerateImagesInput, defaults: ImageParams, model: string): Omit<ImageRequest, 'n'> {
  // An edited image keeps its size unless the request sets another.
  const {
    prompt,
    form = 'url',
    source,
    size = source === undefined ? defaults.size : undefined,
    quality = defaults.quality,
    style = defaults.style,
  } = input;
  return {
    model,
    prompt,
    ...withoutUndefined({ size, quality, style }),
    // Base64 can be saved without fetching it first.
    responseFormat: form === 'url' ? 'url' : 'b64_json',
  };
}

/** The size and quality that the price depends on: those of the request that the model supports. */
function pricedFields({ request, provider, settings }: Job): Pick<UsageCounts, 'size' | 'quality'> {
  return supportedImageFields(request, provider.images.takes?.(request.model, settings));
}

async function countImages(job: Job, host: AiServices['host']): Promise<UsageCounts> {
  const estimate = (n: number) => estimateImages(job.input.prompt, n, host);
  return { ...pricedFields(job), ...(await countImageCalls(job, { model: job.request.model, estimate })) };
}

function runCalls(job: Job, services: ImageServices): Promise<ImageCallOutcome[]> {
  const { input, provider, settings, request, deadline } = job;
  const { host } = services;
  const { signal, n = 1, form = 'url', prompt, userId = 0, isPrivate, onImage } = input;
  let count = 0;
  const retried = <T>(attempt: (timeLeft: number) => Promise<T>): Promise<T> =>
    withRetries(attempt, { services, provider: provider.id, deadline, signal });
  return makeImageCalls({
    n,
    perCall: provider.images.perCall(request.model, settings),
    generate: (n) => retried((timeout) => countedCall(job, n, connectionOf(services, { settings, timeout, signal }))),
    deliver: async (image) => {
      const delivered = await deliverImage(image, {
        form,
        prompt,
        userId,
        isPrivate,
        settings,
        host,
        retried,
        signal,
        onUnsaved: (reason) => (job.unsaved = reason),
      });
      onImage?.((count += 1));
      return delivered;
    },
    missing: (received, requested) =>
      new ProviderError({
        kind: 'unreadable',
        status: 200,
        message: `it returned ${String(received)} of ${String(requested)} images.`,
      }),
  });
}

async function countedCall(job: Job, n: number, connection: ProviderConnection): Promise<ImageResult> {
  const isSent = connection.signal?.aborted !== true;
  try {
    const result = await makeCall(job, n, connection);
    job.results.push(result);
    return result;
  } catch (thrown) {
    const billed = billedUsage(thrown, { isSent });
    // Refused images are not made.
    if (billed !== null) job.failed.push({ ...billed, n: asProviderError(thrown)?.kind === 'rejected' ? 0 : n });
    throw thrown;
  }
}

function makeCall(
  { provider: { images }, request, source }: Job,
  n: number,
  connection: ProviderConnection,
): Promise<ImageResult> {
  // `usableSource` has checked that the provider can edit.
  return source === null || images.editing === undefined
    ? images.generate({ ...request, n }, connection)
    : images.editing.edit({ ...request, ...source, n }, connection);
}

function failuresOf(outcomes: readonly ImageCallOutcome[], { provider, limit }: Job): RestError[] {
  return outcomes
    .flatMap((outcome) => outcome.failures)
    .map((failure) => (failure instanceof RestError ? failure : providerFailure(failure, provider, limit)));
}

function mergeOutcomes(
  outcomes: readonly ImageCallOutcome[],
  failures: readonly RestError[],
  { provider, request, unsaved }: Job,
): Omit<GeneratedImages, 'cost'> {
  const images = outcomes.flatMap((outcome) => outcome.images);
  const [first] = failures;
  if (images.length === 0 && first !== undefined) throw first;
  const results = outcomes.map(({ result }) => result).filter((result) => result !== null);
  return {
    images,
    usage: sumUsage(results.map(({ usage }) => usage)),
    message: [resultMessage(images.length, failures), ...unsavedNote(images, unsaved)].join(' '),
    providerId: provider.id,
    provider: provider.label,
    model: results[0]?.model ?? request.model,
    ignored: [...new Set(results.flatMap(({ ignored }) => ignored))],
  };
}

function unsavedNote(images: readonly GeneratedImage[], reason: string | null): string[] {
  const count = images.filter(({ url }) => url === null).length;
  if (reason === null || count === 0) return [];
  return [`${formatCount(count, 'image')} could not be saved to the media library, and is in b64_json: ${reason}`];
}

function resultMessage(generated: number, failures: readonly RestError[]): string {
  const message = `${formatCount(generated, 'image')} generated.`;
  if (failures.length === 0) return message;
  const reasons = [...new Set(failures.map((failure) => failure.message))];
  return `${message} ${String(failures.length)} of ${String(generated + failures.length)} failed: ${reasons.join(' ')}`;
}

type Usage = Readonly<Record<string, unknown>>;

/**
 * The sum of the usage data of several calls: numbers are added, objects merged by member; otherwise the first value stays.
 * Null if no call reported any.
 */
export function sumUsage(usages: readonly (Usage | null)[]): Usage | null {
  return usages.reduce((sum, usage) => (sum === null || usage === null ? (sum ?? usage) : added(sum, usage)), null);
}

function added(sum: Usage, usage: Usage): Usage {
  const result: Record<string, unknown> = { ...sum };
  for (const [name, value] of Object.entries(usage)) {
    const before = Object.hasOwn(sum, name) ? sum[name] : undefined;
    if (typeof value === 'number' && typeof before === 'number') result[name] = before + value;
    else if (isRecord(value) && isRecord(before)) result[name] = added(before, value);
    else if (before === undefined || before === null) result[name] = value;
  }
  return result;
}

export interface EditImagesInput extends Omit<GenerateImagesInput, 'source'>, ImageSource {}

export type EditImages = (input: EditImagesInput) => Promise<GeneratedImages>;

/**
 * New versions of an image, as the prompt says; limits, tries, usage and form are those of generated ones.
 *
 * @throws RestError of D5, 400 `rest_svc_image_not_editable` where the model only draws, 400 `rest_svc_image_unusable`
 *   where it takes no such image or mask. Nothing was spent then.
 */
export function createEditImages({ generateImages }: { readonly generateImages: GenerateImages }): EditImages {
  return ({ image, mask, ...input }) =>
    generateImages({ ...input, source: { image, ...(mask !== undefined && { mask }) } });
}
