import { pairTerm } from './pairs.ts';
import { createMarkPhrase, type WordPostings } from './phrases.ts';
import { readPlaces, readTexts, type FoundWord, type PostingsRow } from './read-postings.ts';
import type { IndexDatabase } from './segment-store.ts';

export interface PhrasePair {
  /** What each of the two words may be. */
  readonly first: readonly FoundWord[];
  readonly second: readonly FoundWord[];
  /** What stands between them. */
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
 * Two words in a row. Where both are common in a segment the index knows the texts; places are read, and compared, only where
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
  const rare = bySegment(await readPlaces(database, [...new Set(rareIds)]));
  const needed = await commonNeeded({ database, common }, { first, second, glue }, rare);
  const markPhrase = createMarkPhrase();
  for (const [segmentId, rows] of rare) {
    const known = common.get(segmentId);
    const of = (words: readonly FoundWord[], isCommon: boolean): WordPostings[] =>
      words.flatMap((word) =>
        (known?.has(word.term) ?? false) === isCommon
          ? (rows.get(word.id) ?? needed.get(segmentId)?.get(word.id) ?? [])
          : [],
      );
    const [rareFirst, rareSecond, commonFirst] = [of(first, false), of(second, false), of(first, true)];
    hits.markIn(segmentId, (bits, size) => {
      const both = (one: WordPostings[], other: WordPostings[]): void => {
        if (one.length > 0 && other.length > 0)
          markPhrase(
            [
              { words: one, glue },
              { words: other, glue: null },
            ],
            bits,
            size,
          );
      };
      both(rareFirst, [...rareSecond, ...of(second, true)]);
      both(commonFirst, rareSecond);
    });
  }
}

function isEverCommon(common: PairIndex['common'], { term }: FoundWord): boolean {
  for (const words of common.values()) if (words.has(term)) return true;
  return false;
}

/** In every segment that pairs words. Others have few texts. */
function isAlwaysCommon(common: PairIndex['common'], { term }: FoundWord): boolean {
  for (const words of common.values()) if (!words.has(term)) return false;
  return common.size > 0;
}

type Rows = Map<number, Map<number, PostingsRow>>;

/** Postings of common words beside which a rare one stands, in the segments where one does, and in those that pair nothing. */
async function commonNeeded({ database, common }: PairIndex, { first, second }: PhrasePair, rare: Rows): Promise<Rows> {
  const ids = [...new Set([...first, ...second].filter((word) => isAlwaysCommon(common, word)).map(({ id }) => id))];
  if (ids.length === 0) return new Map();
  const paired = [...common]
    .filter(([segmentId, words]) =>
      [...first, ...second].some((word) => !words.has(word.term) && rare.get(segmentId)?.has(word.id) === true),
    )
    .map(([segmentId]) => segmentId);
  const needed = bySegment(await readPlaces(database, ids, { in: paired, besides: [...common.keys()] }));
  // Segments that hold common words alone have their turn as well.
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
