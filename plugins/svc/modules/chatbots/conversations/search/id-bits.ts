/** A set of ids that lie close together: a bit for each, 125 KB for a million. */
export interface IdBits {
  /** Id of the first bit, a multiple of 8: sets are compared byte by byte, whatever ids they begin with. */
  readonly first: number;
  /** Bit `n % 8` of byte `n / 8` is id `first + n`. */
  readonly bytes: Uint8Array;
}

const noIds: IdBits = { first: 0, bytes: new Uint8Array(0) };

export const wholeByte = (id: number): number => Math.floor(id / 8) * 8;

/** Room for the ids from the lowest to the highest, none of them in the set. */
function idBits(lowest: number, highest: number): IdBits {
  const first = wholeByte(lowest);
  return highest < lowest ? noIds : { first, bytes: new Uint8Array(((highest - first) >> 3) + 1) };
}

/** The set of the ids, in any order and repeated or not. */
export function toIdBits(...lists: readonly ArrayLike<number>[]): IdBits {
  let lowest = Infinity;
  let highest = -Infinity;
  for (const list of lists)
    for (let at = 0; at < list.length; at++) {
      const id = list[at] ?? 0;
      if (id < lowest) lowest = id;
      if (id > highest) highest = id;
    }
  const bits = idBits(lowest, highest);
  const { first, bytes } = bits;
  for (const list of lists)
    for (let at = 0; at < list.length; at++) {
      const bit = (list[at] ?? 0) - first;
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (1 << (bit & 7));
    }
  return bits;
}

export function countBits(bits: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < bits.length; at++) count += bitCounts[bits[at] ?? 0] ?? 0;
  return count;
}

/** How many bits of a byte are 1. */
const bitCounts = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length);
