/** A set of ids that lie close together: a bit for each, 125 KB for a million. */
export interface IdBits {
  /** Id of the first bit. */
  readonly first: number;
  /** Bit `n % 8` of byte `n / 8` is id `first + n`. */
  readonly bytes: Uint8Array;
}

export const noIds: IdBits = { first: 0, bytes: new Uint8Array(0) };

/** Room for the ids from the lowest to the highest, none of them in the set. */
export function idBits(lowest: number, highest: number): IdBits {
  return highest < lowest ? noIds : { first: lowest, bytes: new Uint8Array(((highest - lowest) >> 3) + 1) };
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
  // By whole bytes, so that what is known need not be moved bit by bit.
  if (size > 0) lowest = bits.first - Math.ceil((bits.first - lowest) / 8) * 8;
  const wider = idBits(lowest, highest);
  wider.bytes.set(bits.bytes, size === 0 ? 0 : (bits.first - lowest) / 8);
  for (const id of ids) addId(wider, id);
  return wider;
}
