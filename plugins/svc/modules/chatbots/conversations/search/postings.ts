import { bitCounts } from './id-bits.ts';

/** Texts of one segment have numbers below this. */
export const mostTexts = 65_536;

const asGaps = 0;
const asBits = 1;

/**
 * Which texts of a segment hold a term: gaps between their numbers, or a bit for each text, whichever is shorter.
 *
 * @param texts ascending, each once.
 */
export function encodeTexts(texts: ArrayLike<number>, size: number): Uint8Array {
  const bits = Math.ceil(size / 8);
  const writer = createByteWriter();
  writer.number(asGaps);
  let last = -1;
  for (let index = 0; index < texts.length && writer.length() <= bits; index++) {
    const text = texts[index] ?? 0;
    writer.number(text - last - 1);
    last = text;
  }
  if (writer.length() <= bits) return writer.bytes().slice();
  const whole = new Uint8Array(bits + 1);
  whole[0] = asBits;
  for (let index = 0; index < texts.length; index++) {
    const text = texts[index] ?? 0;
    whole[1 + (text >> 3)] = (whole[1 + (text >> 3)] ?? 0) | (1 << (text & 7));
  }
  return whole;
}

/** Room for a bit for each text, none of them set. */
export const textBits = (size: number): Uint8Array => new Uint8Array(Math.ceil(size / 8));

export const hasText = (bits: Uint8Array, text: number): boolean => ((bits[text >> 3] ?? 0) & (1 << (text & 7))) !== 0;

/** Sets bit `text % 8` of byte `text / 8` for each text. */
export function markTexts(bytes: Uint8Array, bits: Uint8Array): void {
  if (bytes[0] === asBits) return addBits(bytes, bits);
  let text = -1;
  let at = 1;
  while (at < bytes.length) {
    let byte = bytes[at++] ?? 0;
    let gap = byte & 127;
    for (let shift = 7; byte >= 128; shift += 7) {
      byte = bytes[at++] ?? 0;
      gap |= (byte & 127) << shift;
    }
    text += gap + 1;
    bits[text >> 3] = (bits[text >> 3] ?? 0) | (1 << (text & 7));
  }
}

function addBits(bytes: Uint8Array, bits: Uint8Array): void {
  for (let at = 1; at < bytes.length; at++) bits[at - 1] = (bits[at - 1] ?? 0) | (bytes[at] ?? 0);
}

/** The texts, ascending. */
export function decodeTexts(bytes: Uint8Array): Uint16Array {
  return bytes[0] === asBits ? decodeBits(bytes) : decodeGaps(bytes);
}

function decodeGaps(bytes: Uint8Array): Uint16Array {
  // The last byte of a number is below 128.
  let count = 0;
  for (let at = 1; at < bytes.length; at++) if ((bytes[at] ?? 0) < 128) count += 1;
  const texts = new Uint16Array(count);
  let text = -1;
  let gap = 0;
  let shift = 0;
  for (let at = 1, index = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    gap |= (byte & 127) << shift;
    shift += 7;
    if (byte >= 128) continue;
    text += gap + 1;
    texts[index++] = text;
    gap = 0;
    shift = 0;
  }
  return texts;
}

function decodeBits(bytes: Uint8Array): Uint16Array {
  let count = 0;
  for (let at = 1; at < bytes.length; at++) count += bitCounts[bytes[at] ?? 0] ?? 0;
  const texts = new Uint16Array(count);
  for (let at = 1, index = 0; at < bytes.length; at++) {
    let byte = bytes[at] ?? 0;
    const first = (at - 1) << 3;
    while (byte !== 0) {
      const low = byte & -byte;
      texts[index++] = first + 31 - Math.clz32(low);
      byte ^= low;
    }
  }
  return texts;
}

/** What separates a token from the next one. */
export const glue = { none: 0, space: 1, otherSpace: 2, end: 3 } as const;

/** The mark of a term's last place in a text. */
export const lastPosition = 4;

/** Positions of a term: keys of text and position, ascending, and what follows each. */
export interface Positions {
  readonly keys: Uint32Array;
  readonly glues: Uint8Array;
}

/** Position 1 is the first of a text. */
export const positionKey = (text: number, position: number): number => text * 65_536 + position;

/** @param texts those the positions are in, see PostingsWriter. */
export function decodePositions(texts: Uint16Array, bytes: Uint8Array): Positions {
  // No place takes less than a byte.
  const keys = new Uint32Array(bytes.length);
  const glues = new Uint8Array(bytes.length);
  let count = 0;
  let at = 0;
  for (let index = 0; index < texts.length; index++) {
    const first = (texts[index] ?? 0) * 65_536;
    let position = 0;
    for (let flags = 0; (flags & lastPosition) === 0;) {
      let byte = bytes[at++] ?? lastPosition;
      let value = byte & 127;
      for (let shift = 7; byte >= 128; shift += 7) {
        byte = bytes[at++] ?? 0;
        value |= (byte & 127) << shift;
      }
      flags = value & 7;
      position += value >> 3;
      keys[count] = first + position;
      glues[count++] = flags & 3;
    }
  }
  return { keys: keys.subarray(0, count), glues: glues.subarray(0, count) };
}

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
