/** Bytes that grow as they are written. Numbers take seven bits a byte, the lowest first. */
export interface ByteWriter {
  readonly length: () => number;
  number(value: number): void;
  /** Sets bits of a byte that was written before. */
  mark(at: number, bits: number): void;
  bytes(): Uint8Array;
}

export function createByteWriter(): ByteWriter {
  // Most terms of a segment occur once or twice: they must not cost much.
  let buffer = new Uint8Array(8);
  let length = 0;
  return {
    length: () => length,
    number(value) {
      if (length + 5 > buffer.length) {
        const larger = new Uint8Array(buffer.length * 2 + 8);
        larger.set(buffer);
        buffer = larger;
      }
      let rest = value;
      while (rest >= 128) {
        buffer[length++] = (rest & 127) | 128;
        rest >>>= 7;
      }
      buffer[length++] = rest;
    },
    mark(at, bits) {
      buffer[at] = (buffer[at] ?? 0) | bits;
    },
    bytes: () => buffer.subarray(0, length),
  };
}
