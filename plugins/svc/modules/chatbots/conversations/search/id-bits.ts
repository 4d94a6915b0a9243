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

/** The set of the ids in groups of 16: each number is that of the group, id / 16, times 65,536, plus a bit for each id. */
export function fromGroups(groups: ArrayLike<number>): IdBits {
  const numbers = Float64Array.from(groups, (group) => Math.floor(group / 65_536) * 16);
  const bits = idBits(
    numbers.reduce((least, id) => Math.min(least, id), Infinity),
    numbers.reduce((most, id) => Math.max(most, id), -Infinity) + 15,
  );
  for (let at = 0; at < numbers.length; at++) {
    const byte = ((numbers[at] ?? 0) - bits.first) / 8;
    bits.bytes[byte] = (groups[at] ?? 0) & 255;
    bits.bytes[byte + 1] = ((groups[at] ?? 0) >> 8) & 255;
  }
  return bits;
}

/** The ids of both sets. */
export function union(one: IdBits, other: IdBits): IdBits {
  if (other.bytes.length === 0) return one;
  if (one.bytes.length === 0) return other;
  const sets = [one, other];
  const bits = idBits(
    Math.min(one.first, other.first),
    Math.max(...sets.map(({ first, bytes }) => first + bytes.length * 8 - 1)),
  );
  for (const { first, bytes } of sets)
    for (let at = 0, to = (first - bits.first) / 8; at < bytes.length; at++, to++)
      bits.bytes[to] = (bits.bytes[to] ?? 0) | (bytes[at] ?? 0);
  return bits;
}

export function countBits(bits: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < bits.length; at++) count += bitCounts[bits[at] ?? 0] ?? 0;
  return count;
}

/** How many bits of a byte are 1. */
const bitCounts = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length);
