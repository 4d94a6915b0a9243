import { unreadable } from '../failures.ts';

/**
 * The vectors, when there is one per input, all of one length and of finite numbers. Answers them unchanged.
 *
 * @throws ProviderError `unreadable` that says what is wrong.
 */
export function checkedEmbeddings(embeddings: readonly (readonly number[])[], inputs: number): readonly (readonly number[])[] {
  if (embeddings.length !== inputs) throw unreadable(`${String(embeddings.length)} vectors for ${String(inputs)} inputs`);
  const length = embeddings[0]?.length ?? 0;
  for (const vector of embeddings) {
    if (vector.length === 0) throw unreadable('an empty vector in it');
    if (vector.length !== length) throw unreadable('vectors of several lengths in it');
    if (!allFinite(vector)) throw unreadable('a vector with something else than numbers in it');
  }
  return embeddings;
}

function allFinite(vector: readonly number[]): boolean {
  for (const value of vector) if (!Number.isFinite(value)) return false;
  return true;
}
