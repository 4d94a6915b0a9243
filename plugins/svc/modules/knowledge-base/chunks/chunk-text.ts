import { sectionsOf, type Section } from './sections.ts';
import { unitsOf, type CountTokens, type Unit } from './units.ts';

/** A passage of a text: what is embedded, found and handed to models as one. */
export interface Chunk {
  /** Headings above it, from the outermost on. */
  readonly headings: readonly string[];
  /** The headings in one line, then the passage. */
  readonly content: string;
  readonly tokens: number;
}

export interface ChunkSettings {
  /** Most tokens of a passage, headings included; 50 to 8,000. */
  readonly size: number;
  /** Tokens of whole sentences that a passage repeats from the one before it; less than half of `size`. */
  readonly overlap: number;
}

/** Share of a passage that its headings may take; of longer ones the innermost are kept. */
const headingShare = 0.3;

/**
 * Passages of a text along its headings and sentences: none crosses a heading, none tears a sentence that fits. The same
 * text gives the same passages, and a change below one heading changes none below the others.
 */
export function chunkText(text: string, settings: ChunkSettings, count: CountTokens): Chunk[] {
  return sectionsOf(text).flatMap((section) => chunkSection(section, settings, count));
}

/** The passages of one section. */
export function chunkSection(
  { headings, blocks }: Section,
  { size, overlap }: ChunkSettings,
  count: CountTokens,
): Chunk[] {
  const path = pathOf(headings, Math.floor(size * headingShare), count);
  const head = path === '' ? 0 : count(path) + 1;
  const room = Math.max(10, size - head);
  const units = blocks.flatMap((block) => unitsOf(block, { size: room - 1, count }));
  return packed(units, room, Math.min(overlap, Math.floor(room / 2))).map((chosen) => {
    const body = chosen.map((unit, at) => (at === 0 ? '' : unit.gap) + unit.text).join('');
    const content = path === '' ? body : `${path}\n\n${body}`;
    return { headings, content, tokens: count(content) };
  });
}

/** Units in groups of at most `room` tokens, each beginning with the last ones of the group before it. */
function packed(units: readonly Unit[], room: number, overlap: number): Unit[][] {
  const groups: Unit[][] = [];
  let group: Unit[] = [];
  let tokens = 0;
  let fresh = 0;
  for (const unit of units) {
    if (fresh > 0 && tokens + unit.tokens > room) {
      groups.push(group);
      group = repeated(group, Math.min(overlap, room - unit.tokens));
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

function repeated(group: readonly Unit[], most: number): Unit[] {
  let tokens = 0;
  let from = group.length;
  while (from > 1 && tokens + (group[from - 1]?.tokens ?? 0) <= most) {
    from -= 1;
    tokens += group[from]?.tokens ?? 0;
  }
  return group.slice(from);
}

function pathOf(headings: readonly string[], most: number, count: CountTokens): string {
  for (let from = 0; from < headings.length; from += 1) {
    const path = headings.slice(from).join(' > ');
    if (count(path) <= most) return path;
  }
  return '';
}
