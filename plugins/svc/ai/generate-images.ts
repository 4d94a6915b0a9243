import { RestError, type HostApi } from '#plugin-api';
import type { ImageParams } from '../kit/image-params.ts';
import {
  ProviderError,
  type ImageRequest,
  type ImageResult,
  type ProviderConnection,
  type ProviderSettings,
} from '../providers/provider.ts';
import { capableProvider, chosenModel, type Capable } from './capable-provider.ts';
import { deliverImage, type GeneratedImage, type ImageForm } from './deliver-image.ts';
import { makeImageCalls, type ImageCallOutcome } from './image-calls.ts';
import { usableSource, type ImageSource, type UsableSource } from './image-source.ts';
import { estimateImages } from './estimate-tokens.ts';
import {
  requestedTarget,
  runUnrecorded,
  unwrapped,
  type AiServices,
  type CallCost,
  type CallTarget,
  type ProviderCall,
  type UsageCounts,
} from './ports.ts';
import { configuredSettings, connectionOf } from './provider-connection.ts';
import { providerFailure } from './upstream-failure.ts';
import { withRetries } from './retry.ts';
import type { UsageOrigin } from '../kit/usage-origin.ts';

export interface GenerateImagesInput extends ImageParams {
  /** Id of a provider. */
  readonly provider: string;
  /** Model or deployment; blank or left out takes the provider's saved image model. */
  readonly model?: string | undefined;
  /** Not blank. */
  readonly prompt: string;
  /** 1 to 10; default 1. */
  readonly n?: number | undefined;
  /** Default `url`. */
  readonly form?: ImageForm | undefined;
  /** Whose images saved in the media library become; default nobody's. */
  readonly userId?: number | undefined;
  /** An image to be edited, in place of one drawn from nothing; see `edit-images.ts`. */
  readonly source?: ImageSource | undefined;
  /** Told how many images are there so far, each time one more is. */
  readonly onImage?: ((made: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** For the usage ledger. */
  readonly origin?: UsageOrigin | undefined;
}

export interface GeneratedImages extends CallCost {
  /** At least one, in the order of the calls. */
  readonly images: readonly GeneratedImage[];
  /** The provider's own usage data, that of several calls added up, or null. */
  readonly usage: Readonly<Record<string, unknown>> | null;
  /** How many there are, and why others failed: "2 images generated. 1 of 3 failed: ...". */
  readonly message: string;
  /** Id of the provider that answered. */
  readonly providerId: string;
  /** Display name of the provider (D6). */
  readonly provider: string;
  /** The model that answered, as the provider names it. */
  readonly model: string;
  /** Fields that were left out, for `X-SVC-Ignored-Params` (D8). */
  readonly ignored: readonly string[];
}

export type GenerateImages = (input: GenerateImagesInput) => Promise<GeneratedImages>;

export type ImageServices = AiServices & { readonly host: Pick<HostApi, 'content' | 'http'> };

/**
 * Images from a provider (contract 4.3, D10): saved defaults, as many calls as `n` takes, further tries (D9), and the
 * form that was asked for, all within one time limit. Where some images fail the others are answered; where all do, the
 * first failure is thrown as the RestError of D5. Saved images are on every node that shares the folder of uploads.
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
    configuredSettings(provider, services),
    settings.imageDefaults(),
    settings.timeouts(),
  ]);
  const model = chosenModel({ requested: target.model, saved: saved.image_model, provider, setting: 'image_model' });
  const source =
    input.source === undefined ? null : await usableSource(input.source, { provider, model, settings: saved });
  const job: Job = {
    input,
    provider,
    settings: saved,
    request: requestOf(input, defaults, model),
    source,
    limit: limits.images,
    deadline: host.clock.now() + limits.images,
  };
  let spent: UsageCounts = { model };
  return recordUsage({
    kind: 'image',
    provider: provider.id,
    model,
    origin: input.origin,
    limit: limits.images,
    estimate: () => estimateImages(input.prompt, input.n ?? 1),
    run: async () => {
      const outcomes = await callsOf(job, services);
      spent = countsOf(outcomes, model);
      return answerOf(outcomes, job);
    },
    count: () => spent,
    countFailed: () => spent,
  });
}

interface Job {
  readonly input: GenerateImagesInput;
  readonly provider: Capable<'images'>;
  readonly settings: ProviderSettings;
  readonly request: Omit<ImageRequest, 'n'>;
  /** What is edited; null: it is drawn from nothing. */
  readonly source: UsableSource | null;
  /** Milliseconds. */
  readonly limit: number;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
}

function requestOf(input: GenerateImagesInput, defaults: ImageParams, model: string): Omit<ImageRequest, 'n'> {
  // An edited image keeps its size unless another one is named.
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
    ...(size !== undefined && { size }),
    ...(quality !== undefined && { quality }),
    ...(style !== undefined && { style }),
    // What is to be saved need not be fetched first.
    responseFormat: form === 'url' ? 'url' : 'b64_json',
  };
}

function callsOf(job: Job, services: ImageServices): Promise<ImageCallOutcome[]> {
  const { input, provider, settings, request, deadline } = job;
  const { host } = services;
  const { signal, n = 1, form = 'url', prompt, userId = 0, onImage } = input;
  let made = 0;
  const tried = <T>(attempt: (timeLeft: number) => Promise<T>): Promise<T> =>
    withRetries(attempt, { services, provider: provider.id, deadline, signal });
  return makeImageCalls({
    n,
    perCall: provider.images.perCall(request.model, settings),
    generate: (count) =>
      tried((timeout) => makeCall(job, count, connectionOf(services, { settings, timeout, signal }))),
    deliver: async (image) => {
      const delivered = await deliverImage(image, { form, prompt, userId, settings, host, tried, signal });
      onImage?.((made += 1));
      return delivered;
    },
    missing: (given, asked) =>
      new ProviderError({
        kind: 'unreadable',
        status: 200,
        message: `it gave ${String(given)} of ${String(asked)} images.`,
      }),
  });
}

function makeCall(
  { provider: { images }, request, source }: Job,
  n: number,
  connection: ProviderConnection,
): Promise<ImageResult> {
  // Whether it can was asked before.
  return source === null || images.editing === undefined
    ? images.generate({ ...request, n }, connection)
    : images.editing.edit({ ...request, ...source, n }, connection);
}

function answerOf(
  outcomes: readonly ImageCallOutcome[],
  { provider, request, limit }: Job,
): Omit<GeneratedImages, 'cost'> {
  const images = outcomes.flatMap((outcome) => outcome.images);
  const failures = outcomes
    .flatMap((outcome) => outcome.failures)
    .map((failure) => (failure instanceof RestError ? failure : providerFailure(failure, provider, limit)));
  const [first] = failures;
  if (images.length === 0 && first !== undefined) throw first;
  const results = outcomes.map(({ result }) => result).filter((result) => result !== null);
  return {
    images,
    usage: sumUsage(results.map(({ usage }) => usage)),
    message: messageOf(images.length, failures),
    providerId: provider.id,
    provider: provider.label,
    model: results[0]?.model ?? request.model,
    ignored: [...new Set(results.flatMap(({ ignored }) => ignored))],
  };
}

function messageOf(made: number, failures: readonly RestError[]): string {
  const message = made === 1 ? '1 image generated.' : `${String(made)} images generated.`;
  if (failures.length === 0) return message;
  const reasons = [...new Set(failures.map((failure) => failure.message))];
  return `${message} ${String(failures.length)} of ${String(made + failures.length)} failed: ${reasons.join(' ')}`;
}

/** What was spent, also on images that could not be delivered. */
function countsOf(outcomes: readonly ImageCallOutcome[], model: string): UsageCounts {
  const results = outcomes.map(({ result }) => result).filter((result) => result !== null);
  const tokens = (name: string): number => {
    const value = sumUsage(results.map(({ usage }) => usage))?.[name];
    return typeof value === 'number' ? value : 0;
  };
  return {
    model: results[0]?.model ?? model,
    inputTokens: tokens('input_tokens'),
    outputTokens: tokens('output_tokens'),
    images: results.reduce((sum, { images }) => sum + images.length, 0),
  };
}

type Usage = Readonly<Record<string, unknown>>;

/**
 * The usage data of several calls as one: numbers added, objects member by member; of anything else the first is kept.
 * Null where no call reported any.
 */
export function sumUsage(usages: readonly (Usage | null)[]): Usage | null {
  return usages.reduce((sum, usage) => (sum === null || usage === null ? (sum ?? usage) : added(sum, usage)), null);
}

function added(sum: Usage, usage: Usage): Usage {
  const result: Record<string, unknown> = { ...sum };
  for (const [name, value] of Object.entries(usage)) {
    const before = Object.hasOwn(sum, name) ? sum[name] : undefined;
    if (typeof value === 'number' && typeof before === 'number') result[name] = before + value;
    else if (isObject(value) && isObject(before)) result[name] = added(before, value);
    else if (before === undefined || before === null) result[name] = value;
  }
  return result;
}

function isObject(value: unknown): value is Usage {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
