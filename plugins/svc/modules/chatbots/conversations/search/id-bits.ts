/** A set of ids that lie close together: a bit for each, 125 KB for a million. */
export interface IdBits {
  /** Id of the first bit, a multiple of 8: sets are compared byte by byte, whatever ids they begin with. */
  readonly first: number;
  /** Bit `n % 8` of byte `n / 8` is id `first + n`. */
  readonly bytes: Uint8Array;
}

export const noIds: IdBits = { first: 0, bytes: new Uint8Array(0) };

export const wholeByte = (id: number): number => Math.floor(id / 8) * 8;

/** Room for the ids from the lowest to the highest, none of them in the set. */
export function idBits(lowest: number, highest: number): IdBits {
  const first = wholeByte(lowest);
  return highest < lowest ? noIds : { first, bytes: new Uint8Array(((highest - first) >> 3) + 1) };
}

/** The id has to be within the set's room. */
export function addId({ first, bytes }: IdBits, id: number): void {
  const bit = id - first;
  bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (1 << (bit & 7));
}

/** A set with these ids as well; the given one when there are none. */
export function withIds(bits: IdBits, ids: readonly number[]): IdBits {
  if (ids.length === 0) return bits;
  const size = bits.bytes.length * 8;
  let lowest = size === 0 ? Infinity : bits.first;
  let highest = size === 0 ? -Infinity : bits.first + size - 1;
  for (const id of ids) {
    lowest = Math.min(lowest, id);
    highest = Math.max(highest, id);
  }
  const wider = idBits(lowest, highest);
  wider.bytes.set(bits.bytes, size === 0 ? 0 : (bits.first - wider.first) / 8);
  for (const id of ids) addId(wider, id);
  return wider;
}

/** Adds ids in a row: bit `n` is id `from + n`. */
export function addRow({ first, bytes }: IdBits, row: Uint8Array, from: number): void {
  const shift = (from - first) & 7;
  let at = (from - first) >> 3;
  for (let index = 0; index < row.length; index++, at++) {
    const both = (row[index] ?? 0) << shift;
    bytes[at] = (bytes[at] ?? 0) | both;
    if (both > 255) bytes[at + 1] = (bytes[at + 1] ?? 0) | (both >> 8);
  }
}

/** Adds some of the ids of a list: those whose bits are set. */
export function addSome({ first, bytes }: IdBits, chosen: Uint8Array, list: Uint32Array): void {
  for (let at = 0; at < chosen.length; at++) {
    for (let byte = chosen[at] ?? 0; byte !== 0; byte &= byte - 1) {
      const bit = (list[(at << 3) + 31 - Math.clz32(byte & -byte)] ?? 0) - first;
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (1 << (bit & 7));
    }
  }
}

export function countBits(bits: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < bits.length; at++) count += bitCounts[bits[at] ?? 0] ?? 0;
  return count;
}

/** How many bits of a byte are 1. */
export const bitCounts = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length);
