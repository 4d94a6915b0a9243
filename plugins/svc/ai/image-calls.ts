import { RestError } from '#plugin-api';
import { asProviderError, ProviderError, type ImageResult } from '../providers/provider.ts';
import type { GeneratedImage } from './deliver-image.ts';
import { inParallel } from './in-parallel.ts';

/** What became of one call: the images that arrived, and why others did not. */
export interface ImageCallOutcome {
  readonly images: readonly GeneratedImage[];
  /** One for each image that was asked of the call and is not there. */
  readonly failures: readonly (ProviderError | RestError)[];
  /** Null when the call itself failed. */
  readonly result: ImageResult | null;
}

export interface ImageCallsInit {
  /** Images in all, 1 or more. */
  readonly n: number;
  /** Images one call can give. */
  readonly perCall: number;
  /** One call, its further tries included. */
  readonly generate: (count: number) => Promise<ImageResult>;
  readonly deliver: (image: ImageResult['images'][number]) => Promise<GeneratedImage>;
  /** For each image a call was asked for and did not give. */
  readonly missing: (given: number, asked: number) => ProviderError;
}

/** Calls for images under way at a time, for one request: accounts are limited to few images a minute. */
const callsAtATime = 5;

/**
 * Reaches a number of images by as many calls as it takes, several at a time (D10). A failure of one is kept beside what
 * the others gave; only after refused credentials no further call is begun. Errors of our own are thrown.
 */
export async function makeImageCalls(init: ImageCallsInit): Promise<ImageCallOutcome[]> {
  let refused: ProviderError | null = null;
  const failed = (error: ProviderError | RestError, count: number): ImageCallOutcome => ({
    images: [],
    failures: Array<typeof error>(count).fill(error),
    result: null,
  });
  return inParallel(split(init.n, init.perCall), callsAtATime, {
    task: async (count) => {
      if (refused !== null) return failed(refused, count);
      try {
        return await delivered(checked(await init.generate(count)), count, init);
      } catch (thrown) {
        const error = asProviderError(thrown);
        if (error === null) throw thrown;
        if (error.kind === 'auth') refused = error;
        return failed(error, count);
      }
    },
  });
}

async function delivered(
  result: ImageResult,
  asked: number,
  { deliver, missing }: ImageCallsInit,
): Promise<ImageCallOutcome> {
  const given = result.images.slice(0, asked);
  const settled = await Promise.all(given.map((image) => deliver(image).catch(failureOf)));
  return {
    images: settled.filter((entry): entry is GeneratedImage => !(entry instanceof Error)),
    failures: [
      ...settled.filter((entry): entry is ProviderError | RestError => entry instanceof Error),
      ...Array.from({ length: asked - given.length }, () => missing(given.length, asked)),
    ],
    result,
  };
}

/** Providers of other plugins are held to the contract as well. */
function checked(result: ImageResult): ImageResult {
  if (Array.isArray(result.images) && result.images.length > 0) return result;
  throw new ProviderError({
    kind: 'unreadable',
    status: 200,
    message: 'its answer could not be read (no image in it).',
  });
}

function failureOf(thrown: unknown): ProviderError | RestError {
  const error = thrown instanceof RestError ? thrown : asProviderError(thrown);
  if (error === null) throw thrown;
  return error;
}

/** 10 images of 4 a call: [4, 4, 2]. */
function split(n: number, perCall: number): number[] {
  const most = Math.max(1, Math.trunc(perCall) || 1);
  return Array.from({ length: Math.ceil(n / most) }, (_, place) => Math.min(most, n - place * most));
}
