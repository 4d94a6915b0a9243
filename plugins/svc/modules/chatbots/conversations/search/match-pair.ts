import { pairTerm } from './pairs.ts';
import { createMarkPhrase, type WordPostings } from './phrases.ts';
import { readPositions, readTexts, type FoundWord, type PostingsRow } from './read-postings.ts';
import type { IndexDatabase } from './segment-store.ts';

export interface PhrasePair {
  /** Alternatives for each of the two words. */
  readonly first: readonly FoundWord[];
  readonly second: readonly FoundWord[];
  /** What separates them. */
  readonly glue: number;
}

export interface PairIndex {
  readonly database: IndexDatabase;
  /** By segment: the words whose pairs it holds. */
  readonly common: ReadonlyMap<number, ReadonlySet<string>>;
}

/** Sets the bits of texts of a segment that has so many of them. */
export type MarkTexts = (bits: Uint8Array, size: number) => void;

export interface PairMarks {
  mark(rows: readonly PostingsRow[]): void;
  markIn(segmentId: number, mark: MarkTexts): void;
}

/**
 * Two words in a row. Where both are common in a segment the index knows the texts; positions are read, and compared, only where
 * one of them is rare.
 */
export async function markPair(
  { database, common }: PairIndex,
  { first, second, glue }: PhrasePair,
  hits: PairMarks,
): Promise<void> {
  const terms = first.flatMap((one) =>
    isEverCommon(common, one)
      ? second.filter((other) => isEverCommon(common, other)).map((other) => pairTerm(one.term, glue, other.term))
      : [],
  );
  if (terms.length > 0) hits.mark(await readTexts(database, { by: 'pairs', terms }));
  const rareIds = [...first, ...second].filter((word) => !isAlwaysCommon(common, word)).map(({ id }) => id);
  const rare = bySegment(await readPositions(database, [...new Set(rareIds)]));
  const needed = await commonNeeded({ database, common }, { first, second, glue }, rare);
  const markPhrase = createMarkPhrase();
  for (const [segmentId, rows] of rare) {
    const known = common.get(segmentId);
    const select = (candidates: readonly FoundWord[], isCommon: boolean): WordPostings[] =>
      candidates.flatMap((word) =>
        (known?.has(word.term) ?? false) === isCommon
          ? (rows.get(word.id) ?? needed.get(segmentId)?.get(word.id) ?? [])
          : [],
      );
    const [rareFirst, rareSecond, commonFirst] = [select(first, false), select(second, false), select(first, true)];
    hits.markIn(segmentId, (bits, size) => {
      const both = (one: WordPostings[], other: WordPostings[]): void => {
        if (one.length > 0 && other.length > 0)
          markPhrase(
            [
              { candidates: one, glue },
              { candidates: other, glue: null },
            ],
            bits,
            size,
          );
      };
      both(rareFirst, [...rareSecond, ...select(second, true)]);
      both(commonFirst, rareSecond);
    });
  }
}

function isEverCommon(common: PairIndex['common'], { term }: FoundWord): boolean {
  for (const terms of common.values()) if (terms.has(term)) return true;
  return false;
}

/** In every segment that pairs words. Others have few texts. */
function isAlwaysCommon(common: PairIndex['common'], { term }: FoundWord): boolean {
  for (const terms of common.values()) if (!terms.has(term)) return false;
  return common.size > 0;
}

type Rows = Map<number, Map<number, PostingsRow>>;

/** Postings of common words next to rare ones, in segments with rare ones and in segments without pairs. */
async function commonNeeded({ database, common }: PairIndex, { first, second }: PhrasePair, rare: Rows): Promise<Rows> {
  const ids = [...new Set([...first, ...second].filter((word) => isAlwaysCommon(common, word)).map(({ id }) => id))];
  if (ids.length === 0) return new Map();
  const paired = [...common]
    .filter(([segmentId, terms]) =>
      [...first, ...second].some((word) => !terms.has(word.term) && rare.get(segmentId)?.has(word.id) === true),
    )
    .map(([segmentId]) => segmentId);
  const needed = bySegment(await readPositions(database, ids, { in: paired, besides: [...common.keys()] }));
  // Segments with common words only are also searched.
  for (const segmentId of needed.keys()) if (!rare.has(segmentId)) rare.set(segmentId, new Map());
  return needed;
}

export function bySegment(rows: readonly PostingsRow[]): Rows {
  const segments: Rows = new Map();
  for (const row of rows) {
    const segment = segments.get(row.segmentId);
    if (segment === undefined) segments.set(row.segmentId, new Map([[row.termId, row]]));
    else segment.set(row.termId, row);
  }
  return segments;
}
