import { setImmediate as nextTurn } from 'node:timers/promises';

type Vector = ArrayLike<number>;

/** Numbers that are written or read without a pause, which takes some 10 ms. */
const numbersOfSlice = 60_000;

/** Vectors in groups of about so many numbers. */
function slicesOf<Item extends Vector>(vectors: readonly Item[]): (readonly Item[])[] {
  const size = Math.max(1, Math.floor(numbersOfSlice / Math.max(1, vectors[0]?.length ?? 1)));
  return Array.from({ length: Math.ceil(vectors.length / size) }, (_, index) =>
    vectors.slice(index * size, (index + 1) * size),
  );
}

export interface WriteInit<Item> {
  /** JSON before and after the items. */
  readonly head: string;
  readonly tail: string;
  /** JSON of some items, with commas between them. */
  write(vectors: readonly Item[], firstIndex: number): Uint8Array | string;
}

/**
 * The JSON of a response that lists vectors: whole if they are few, else in pieces, so that other requests go on between
 * them (D46).
 */
export function writeVectors<Item extends Vector>(
  vectors: readonly Item[],
  { head, tail, write }: WriteInit<Item>,
): Uint8Array | AsyncIterable<Uint8Array> {
  const slices = slicesOf(vectors);
  const bytesOf = (slice: readonly Item[], index: number): Buffer =>
    Buffer.from(write(slice, index * (slices[0]?.length ?? 0)));
  if (slices.length < 2) return Buffer.concat([Buffer.from(head), ...slices.map(bytesOf), Buffer.from(tail)]);
  return (async function* () {
    for (const [index, slice] of slices.entries()) {
      yield Buffer.concat([Buffer.from(index === 0 ? head : ','), bytesOf(slice, index)]);
      await nextTurn();
    }
    yield Buffer.from(tail);
  })();
}

/** Maps groups of vectors, one after the other; other requests go on between them (D46). */
export async function mapVectors<Item extends Vector, Result>(
  vectors: readonly Item[],
  map: (vectors: readonly Item[]) => readonly Result[],
): Promise<Result[]> {
  const results: Result[] = [];
  for (const slice of slicesOf(vectors)) {
    results.push(...map(slice));
    await nextTurn();
  }
  return results;
}
