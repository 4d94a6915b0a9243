import { decodeTexts, hasText, lastPosition, markTexts, textBits } from './postings.ts';

/** The texts and positions of a word in one segment, as stored. */
export interface WordPostings {
  readonly texts: Uint8Array;
  readonly positions: Uint8Array | null;
}

/** A part of a phrase in one segment: its word, or any of the candidates it may be. */
export interface PhrasePart {
  readonly candidates: readonly WordPostings[];
  /** What must follow it; null: anything. */
  readonly glue: number | null;
}

/** Sets the bits of the texts, of `size`, in which the parts stand one behind the other. */
export type MarkPhrase = (parts: readonly PhrasePart[], bits: Uint8Array, size: number) => void;

/** Positions of the rarest part: those of text `t` are from `starts[t]` up to `starts[t + 1]`, ascending. */
interface Anchor {
  positions: Uint16Array;
  readonly starts: Uint32Array;
  count: number;
}

/**
 * A phrase is looked for around the positions of its rarest part, in the texts that hold all of its parts; positions of the other
 * parts are compared while they are read, and never put together. One search uses it for one segment after the other, so
 * that room is made once.
 */
export function createMarkPhrase(): MarkPhrase {
  let room: Anchor | null = null;
  let met = new Uint8Array(0);

  return (parts, bits, size) => {
    const wanted = textsOfAll(parts, size);
    if (wanted === null) return;
    const rarest = rarestOf(parts);
    const anchor = (room = roomFor(room, size, bytesOf(parts[rarest])));
    readAnchor(anchor, parts[rarest] ?? { candidates: [], glue: null }, wanted);
    if (met.length < anchor.count) met = new Uint8Array(anchor.count);
    for (const [index, part] of parts.entries()) {
      if (index === rarest || anchor.count === 0) continue;
      met.fill(0, 0, anchor.count);
      for (const word of part.candidates) meet(anchor, { word, glue: part.glue, offset: index - rarest }, met);
      keepMet(anchor, met);
    }
    for (let text = 0; text < size; text++)
      if ((anchor.starts[text] ?? 0) < (anchor.starts[text + 1] ?? 0))
        bits[text >> 3] = (bits[text >> 3] ?? 0) | (1 << (text & 7));
  };
}

/** Bits of the texts that hold a word of each part; null: none do. */
function textsOfAll(parts: readonly PhrasePart[], size: number): Uint8Array | null {
  let wanted: Uint8Array | null = null;
  for (const { candidates } of parts) {
    const held = textBits(size);
    for (const { texts } of candidates) markTexts(texts, held);
    if (wanted !== null) for (let at = 0; at < held.length; at++) held[at] = (held[at] ?? 0) & (wanted[at] ?? 0);
    wanted = held;
  }
  return wanted?.some((byte) => byte !== 0) === true ? wanted : null;
}

function bytesOf(part: PhrasePart | undefined): number {
  return (part?.candidates ?? []).reduce((sum, { positions }) => sum + (positions?.length ?? 0), 0);
}

function rarestOf(parts: readonly PhrasePart[]): number {
  const sizes = parts.map(bytesOf);
  return sizes.indexOf(Math.min(...sizes));
}

/** No cursor takes less than a byte. */
function roomFor(known: Anchor | null, texts: number, positions: number): Anchor {
  if (known !== null && known.starts.length > texts && known.positions.length >= positions) return known;
  return { positions: new Uint16Array(positions), starts: new Uint32Array(texts + 1), count: 0 };
}

function readAnchor(anchor: Anchor, { candidates, glue }: PhrasePart, wanted: Uint8Array): void {
  const [only] = candidates;
  if (candidates.length === 1 && only !== undefined) return readOne(anchor, { word: only, glue }, wanted);
  const keys = new Uint32Array(candidates.reduce((sum, { positions }) => sum + (positions?.length ?? 0), 0));
  let count = 0;
  const single: Anchor = { positions: new Uint16Array(0), starts: anchor.starts, count: 0 };
  for (const word of candidates) {
    if (single.positions.length < (word.positions?.length ?? 0))
      single.positions = new Uint16Array(word.positions?.length ?? 0);
    readOne(single, { word, glue }, wanted);
    for (let text = 0; text + 1 < single.starts.length; text++) {
      for (let at = single.starts[text] ?? 0; at < (single.starts[text + 1] ?? 0); at++)
        keys[count++] = text * 65_536 + (single.positions[at] ?? 0);
    }
  }
  const sorted = keys.subarray(0, count).sort();
  anchor.starts.fill(0);
  for (let at = 0; at < count; at++) {
    const key = sorted[at] ?? 0;
    anchor.positions[at] = key & 0xffff;
    anchor.starts[(key >>> 16) + 1] = at + 1;
  }
  for (let text = 1; text < anchor.starts.length; text++)
    anchor.starts[text] = Math.max(anchor.starts[text] ?? 0, anchor.starts[text - 1] ?? 0);
  anchor.count = count;
}

interface OneWord {
  readonly word: WordPostings;
  readonly glue: number | null;
}

function readOne(anchor: Anchor, { word, glue }: OneWord, wanted: Uint8Array): void {
  const { positions, starts } = anchor;
  const texts = decodeTexts(word.texts);
  const bytes = word.positions ?? new Uint8Array(0);
  const any = glue ?? 0;
  const mask = glue === null ? 0 : 3;
  let count = 0;
  let at = 0;
  let open = 0;
  for (let index = 0; index < texts.length; index++) {
    const text = texts[index] ?? 0;
    while (open <= text) starts[open++] = count;
    if (!hasText(wanted, text)) {
      at = behindText(bytes, at);
      continue;
    }
    let position = 0;
    for (let flags = 0; (flags & lastPosition) === 0;) {
      let byte = bytes[at++] ?? lastPosition;
      flags = byte & 7;
      let value = byte & 127;
      for (let shift = 7; byte >= 128; shift += 7) {
        byte = bytes[at++] ?? 0;
        value |= (byte & 127) << shift;
      }
      position += value >> 3;
      if ((flags & mask) === any) positions[count++] = position;
    }
  }
  while (open < starts.length) starts[open++] = count;
  anchor.count = count;
}

/** Where the positions of the next text begin. */
function behindText(bytes: Uint8Array, from: number): number {
  let at = from;
  for (let isLast = false; !isLast && at < bytes.length;) {
    let byte = bytes[at++] ?? 0;
    isLast = (byte & lastPosition) !== 0;
    while (byte >= 128) byte = bytes[at++] ?? 0;
  }
  return at;
}

/** Marks the anchor's positions that have this word so many positions behind (or before) them. */
function meet(
  { positions, starts }: Anchor,
  { word, glue, offset }: OneWord & { readonly offset: number },
  met: Uint8Array,
): void {
  const texts = decodeTexts(word.texts);
  const bytes = word.positions ?? new Uint8Array(0);
  const any = glue ?? 0;
  const mask = glue === null ? 0 : 3;
  let at = 0;
  for (let index = 0; index < texts.length; index++) {
    const text = texts[index] ?? 0;
    let cursor = starts[text] ?? 0;
    const end = starts[text + 1] ?? 0;
    let position = 0;
    let flags = 0;
    while (cursor < end && (flags & lastPosition) === 0) {
      let byte = bytes[at++] ?? lastPosition;
      flags = byte & 7;
      let value = byte & 127;
      for (let shift = 7; byte >= 128; shift += 7) {
        byte = bytes[at++] ?? 0;
        value |= (byte & 127) << shift;
      }
      position += value >> 3;
      if ((flags & mask) !== any) continue;
      while (cursor < end && (positions[cursor] ?? 0) + offset < position) cursor += 1;
      if (cursor < end && (positions[cursor] ?? 0) + offset === position) met[cursor++] = 1;
    }
    if ((flags & lastPosition) === 0) at = behindText(bytes, at);
  }
}

function keepMet(anchor: Anchor, met: Uint8Array): void {
  const { positions, starts } = anchor;
  let remaining = 0;
  let from = 0;
  for (let text = 0; text + 1 < starts.length; text++) {
    const end = starts[text + 1] ?? 0;
    for (let cursor = from; cursor < end; cursor++)
      if (met[cursor] === 1) positions[remaining++] = positions[cursor] ?? 0;
    from = end;
    starts[text + 1] = remaining;
  }
  anchor.count = remaining;
}
