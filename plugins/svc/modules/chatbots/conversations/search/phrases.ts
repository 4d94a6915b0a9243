import type { Places } from './postings.ts';

/** A slot of a phrase in one segment: where its word, or any of its words, stands. */
export interface PhrasePart {
  readonly lists: readonly Places[];
  /** What must stand behind it; null: anything. */
  readonly glue: number | null;
}

/** Marks the texts in which the parts stand one behind the other. */
export function markPhrase(parts: readonly PhrasePart[], marks: Uint8Array): void {
  const keys = parts.map(({ lists, glue }) => union(lists.map((list) => (glue === null ? list.keys : withGlue(list, glue)))));
  if (keys.some((list) => list.length === 0)) return;
  let found = keys[0] ?? new Uint32Array(0);
  for (const list of keys.slice(1)) found = behind(found, list);
  for (let index = 0; index < found.length; index++) marks[(found[index] ?? 0) >>> 16] = 1;
}

function withGlue({ keys, glues }: Places, glue: number): Uint32Array {
  const kept = new Uint32Array(keys.length);
  let count = 0;
  for (let index = 0; index < keys.length; index++) if (glues[index] === glue) kept[count++] = keys[index] ?? 0;
  return kept.subarray(0, count);
}

/** Keys of `next` that follow one of `found`. */
function behind(found: Uint32Array, next: Uint32Array): Uint32Array {
  const kept = new Uint32Array(Math.min(found.length, next.length));
  let count = 0;
  for (let left = 0, right = 0; left < found.length && right < next.length; ) {
    const wanted = (found[left] ?? 0) + 1;
    const have = next[right] ?? 0;
    if (have === wanted) kept[count++] = have;
    if (have <= wanted) right += 1;
    if (have >= wanted) left += 1;
  }
  return kept.subarray(0, count);
}

/** Ascending keys of all lists, which share none. The shortest two are made one until one is left. */
function union(lists: readonly Uint32Array[]): Uint32Array {
  const queue = lists.filter((list) => list.length > 0).sort((one, other) => one.length - other.length);
  while (queue.length > 1) {
    const merged = merge(queue.shift() ?? new Uint32Array(0), queue.shift() ?? new Uint32Array(0));
    const at = queue.findIndex((list) => list.length >= merged.length);
    queue.splice(at < 0 ? queue.length : at, 0, merged);
  }
  return queue[0] ?? new Uint32Array(0);
}

function merge(one: Uint32Array, other: Uint32Array): Uint32Array {
  const merged = new Uint32Array(one.length + other.length);
  let [left, right] = [0, 0];
  for (let at = 0; at < merged.length; at++) {
    if (right >= other.length || (left < one.length && (one[left] ?? 0) < (other[right] ?? 0))) merged[at] = one[left++] ?? 0;
    else merged[at] = other[right++] ?? 0;
  }
  return merged;
}
