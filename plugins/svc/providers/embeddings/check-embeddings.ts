import { unreadableResponse } from '../provider-errors.ts';
import type { EmbeddingResult, FailedUsage } from '../provider.ts';

type Vector = readonly number[] | Float32Array;

/**
 * Checks for one vector per input, all of the same length and with finite numbers.
 *
 * @throws ProviderError `unreadable` with the reason.
 */
export function checkVectors(vectors: readonly Vector[], inputs: number): void {
  if (vectors.length !== inputs)
    throw unreadableResponse(`${String(vectors.length)} vectors for ${String(inputs)} inputs`);
  const length = vectors[0]?.length ?? 0;
  for (const vector of vectors) {
    if (vector.length === 0) throw unreadableResponse('an empty vector in it');
    if (vector.length !== length) throw unreadableResponse('vectors of several lengths in it');
    if (!allFinite(vector)) throw unreadableResponse('a vector with values that are not numbers');
  }
}

function allFinite(vector: Vector): boolean {
  for (let index = 0; index < vector.length; index += 1) if (!Number.isFinite(vector[index])) return false;
  return true;
}

/** The vectors of a result. Vectors of 32-bit floats are converted to arrays of numbers on first access. */
export function resultVectors(vectors: readonly Vector[]): Pick<EmbeddingResult, 'embeddings' | 'packed'> {
  if (!vectors.every((vector) => vector instanceof Float32Array)) {
    return { embeddings: vectors.map((vector) => (vector instanceof Float32Array ? Array.from(vector) : vector)) };
  }
  let unpacked: readonly (readonly number[])[] | undefined;
  return {
    get embeddings() {
      return (unpacked ??= vectors.map((vector) => Array.from(vector)));
    },
    packed: vectors,
  };
}

/** What a failed call reported, as that of other calls. */
export function inputUsage(usage: EmbeddingResult['usage']): FailedUsage {
  return { usage: usage && { ...usage, output_tokens: 0 } };
}
