import { RestError } from '#plugin-api';
import { asProviderError, ProviderError, type ImageResult } from '../providers/provider.ts';
import type { GeneratedImage } from './deliver-image.ts';
import { inParallel } from './in-parallel.ts';

/** The result of one call: the images it delivered, and why others failed. */
export interface ImageCallOutcome {
  readonly images: readonly GeneratedImage[];
  /** One for each requested image that is missing. */
  readonly failures: readonly (ProviderError | RestError)[];
  /** Null when the call itself failed. */
  readonly result: ImageResult | null;
}

export interface ImageCallsInit {
  /** Total number of images, 1 or more. */
  readonly n: number;
  /** The most images of one call. */
  readonly perCall: number;
  /** One call, retries included. */
  readonly generate: (count: number) => Promise<ImageResult>;
  readonly deliver: (image: ImageResult['images'][number]) => Promise<GeneratedImage>;
  /** For each image that a call was requested to return and did not. */
  readonly missing: (received: number, requested: number) => ProviderError;
}

/** Concurrent calls per request: accounts are limited to few images per minute. */
const maxConcurrentCalls = 5;

/**
 * Gets a number of images with as many calls as it takes, several at a time (D10). A failed call does not affect the
 * others, but no call starts after refused credentials. Throws errors that are not the provider's.
 */
export async function makeImageCalls(init: ImageCallsInit): Promise<ImageCallOutcome[]> {
  let refused: ProviderError | null = null;
  const failed = (error: ProviderError | RestError, count: number): ImageCallOutcome => ({
    images: [],
    failures: Array<typeof error>(count).fill(error),
    result: null,
  });
  return inParallel(split(init.n, init.perCall), maxConcurrentCalls, {
    task: async (count) => {
      if (refused !== null) return failed(refused, count);
      try {
        return await deliverImages(checkResult(await init.generate(count)), count, init);
      } catch (thrown) {
        const error = asProviderError(thrown);
        if (error === null) throw thrown;
        if (error.kind === 'auth') refused = error;
        return failed(error, count);
      }
    },
  });
}

/** Images of one call that are fetched and stored at a time: each may have 50 MB (D46). */
const maxConcurrentDeliveries = 4;

async function deliverImages(
  result: ImageResult,
  requested: number,
  { deliver, missing }: ImageCallsInit,
): Promise<ImageCallOutcome> {
  const received = result.images.slice(0, requested);
  const settled = await inParallel(received, maxConcurrentDeliveries, {
    task: (image) => deliver(image).catch(asFailure),
  });
  return {
    images: settled.filter((entry): entry is GeneratedImage => !(entry instanceof Error)),
    failures: [
      ...settled.filter((entry): entry is ProviderError | RestError => entry instanceof Error),
      ...Array.from({ length: requested - received.length }, () => missing(received.length, requested)),
    ],
    result,
  };
}

/** Providers of other plugins must follow the contract too. */
function checkResult(result: ImageResult): ImageResult {
  if (Array.isArray(result.images) && result.images.length > 0) return result;
  throw new ProviderError({
    kind: 'unreadable',
    status: 200,
    message: 'its response contains no image.',
  });
}

function asFailure(thrown: unknown): ProviderError | RestError {
  const error = thrown instanceof RestError ? thrown : asProviderError(thrown);
  if (error === null) throw thrown;
  return error;
}

/** 10 images, 4 per call: [4, 4, 2]. */
function split(n: number, perCall: number): number[] {
  const most = Math.max(1, Math.trunc(perCall) || 1);
  return Array.from({ length: Math.ceil(n / most) }, (_, index) => Math.min(most, n - index * most));
}
