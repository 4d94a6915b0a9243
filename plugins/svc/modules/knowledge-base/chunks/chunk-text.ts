import type { Section } from './sections.ts';
import type { CountTokens } from '../../../kit/count-tokens.ts';
import { splitUnits, type Unit } from './units.ts';
import { createHash } from 'node:crypto';

/** A passage of a text: the unit that is embedded, found and passed to models. */
export interface Chunk {
  /** Headings above it, outermost first. */
  readonly headings: readonly string[];
  /** The headings in one line, then the passage. */
  readonly content: string;
  readonly tokens: number;
}

export interface ChunkSettings {
  /** Maximum tokens of a passage with its headings, 50 to 8,000. */
  readonly size: number;
  /** Tokens of whole sentences that a passage repeats from the previous one; less than half of `size`. */
  readonly overlap: number;
}

/** Largest share of a passage for its headings; longer paths lose their outermost headings. */
const maxHeadingShare = 0.3;

/**
 * Splits one section into passages at sentences. No passage splits a sentence that fits. Deterministic: a change below one
 * heading does not change passages below others.
 */
export function chunkSection(
  { headings, blocks }: Section,
  { size, overlap }: ChunkSettings,
  count: CountTokens,
): Chunk[] {
  const path = headingPath(headings, Math.floor(size * maxHeadingShare), count);
  const head = path === '' ? 0 : count(path) + 1;
  const room = Math.max(10, size - head);
  const units = blocks.flatMap((block) => splitUnits(block, { size: room - 1, count }));
  return packUnits(units, room, Math.min(overlap, Math.floor(room / 2))).map((chosen) => {
    const body = chosen.map((unit, at) => (at === 0 ? '' : unit.gap) + unit.text).join('');
    const content = path === '' ? body : `${path}\n\n${body}`;
    return { headings, content, tokens: count(content) };
  });
}

/** Groups units up to `room` tokens. Each group begins with the last units of the previous one. */
function packUnits(units: readonly Unit[], room: number, overlap: number): Unit[][] {
  const groups: Unit[][] = [];
  let group: Unit[] = [];
  let tokens = 0;
  let fresh = 0;
  for (const unit of units) {
    if (fresh > 0 && tokens + unit.tokens > room) {
      groups.push(group);
      group = overlapUnits(group, Math.min(overlap, room - unit.tokens));
      tokens = group.reduce((sum, one) => sum + one.tokens, 0);
      fresh = 0;
    }
    group.push(unit);
    tokens += unit.tokens;
    fresh += 1;
  }
  if (fresh > 0) groups.push(group);
  return groups;
}

function overlapUnits(group: readonly Unit[], most: number): Unit[] {
  let tokens = 0;
  let from = group.length;
  while (from > 1 && tokens + (group[from - 1]?.tokens ?? 0) <= most) {
    from -= 1;
    tokens += group[from]?.tokens ?? 0;
  }
  return group.slice(from);
}

function headingPath(headings: readonly string[], most: number, count: CountTokens): string {
  for (let from = 0; from < headings.length; from += 1) {
    const path = headings.slice(from).join(' > ');
    if (count(path) <= most) return path;
  }
  return '';
}

/** A passage with the id of its vector. */
export interface NumberedChunk extends Chunk {
  /** UUID from a hash of the passage and the id, title and URL of its source. */
  readonly vectorId: string;
}

interface ChunkSource {
  readonly id: number;
  readonly title: string;
  readonly url: string;
}

/**
 * Adds the ids of their vectors to passages. An id does not depend on the position, so moved passages are not embedded
 * again. Equal passages of one source get different ids.
 */
export function numberChunks(chunks: readonly Chunk[], { id, title, url }: ChunkSource): NumberedChunk[] {
  const seen = new Map<string, number>();
  return chunks.map((chunk) => {
    const hash = hashTexts([String(id), title, url, chunk.content, ...chunk.headings]);
    const before = seen.get(hash) ?? 0;
    seen.set(hash, before + 1);
    return { ...chunk, vectorId: toUuid(before === 0 ? hash : hashTexts([hash, String(before)])) };
  });
}

/** SHA-256 of texts in their order, in hexadecimal. */
export function hashTexts(texts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex');
}

/** A UUID of version 8 from a hash. */
function toUuid(hash: string): string {
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-a${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}
