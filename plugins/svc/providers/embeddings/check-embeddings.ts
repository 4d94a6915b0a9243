import { unreadableResponse } from '../provider-errors.ts';
import type { EmbeddingResult } from '../provider.ts';

type Vector = readonly number[] | Float32Array;

/**
 * Checks that there is one vector per input, all of one length and of finite numbers.
 *
 * @throws ProviderError `unreadable` that says what is wrong.
 */
export function checkVectors(vectors: readonly Vector[], inputs: number): void {
  if (vectors.length !== inputs)
    throw unreadableResponse(`${String(vectors.length)} vectors for ${String(inputs)} inputs`);
  const length = vectors[0]?.length ?? 0;
  for (const vector of vectors) {
    if (vector.length === 0) throw unreadableResponse('an empty vector in it');
    if (vector.length !== length) throw unreadableResponse('vectors of several lengths in it');
    if (!allFinite(vector)) throw unreadableResponse('a vector with something else than numbers in it');
  }
}

function allFinite(vector: Vector): boolean {
  for (let place = 0; place < vector.length; place += 1) if (!Number.isFinite(vector[place])) return false;
  return true;
}

/** Vectors as results hold them: those of 32-bit floats become arrays of numbers when somebody asks for these. */
export function vectorsOf(vectors: readonly Vector[]): Pick<EmbeddingResult, 'embeddings' | 'packed'> {
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
