import { decodePositions, decodeTexts, type Positions } from './postings.ts';

/** A word of a segment with the texts it is in and its positions there, as the index holds them. */
export interface PairedWord {
  readonly term: string;
  readonly texts: Uint8Array;
  readonly positions: Uint8Array;
}

/** Two words in a row, and the texts they are in, ascending. */
export interface Pair {
  readonly term: string;
  readonly texts: readonly number[];
}

/** Texts of a segment from which its common words are paired: with fewer their positions are compared quickly enough. */
export const worthPairs = 4_096;
/** A word is common if it occurs in at least one of so many texts. */
const commonShare = 16;
const mostCommon = 128;
/** Texts that are looked through before others get their turn. */
const textsAtOnce = 1_024;

/** Words of a segment that are so common that comparing their positions would take long. */
export function commonWords<Word extends { readonly texts: ArrayLike<number> }>(
  entries: Iterable<readonly [string, Word]>,
  size: number,
): (readonly [string, Word])[] {
  const common: (readonly [string, Word])[] = [];
  for (const entry of entries) if (entry[1].texts.length * commonShare >= size) common.push(entry);
  return common.sort(([, one], [, other]) => other.texts.length - one.texts.length).slice(0, mostCommon);
}

/** What a pair is found by. No word holds a blank. */
export const pairTerm = (first: string, glue: number, second: string): string => `${first} ${String(glue)} ${second}`;

/** All that stand in a row, of these words alone. Null: a good moment to let others in. */
export function* pairsOf(paired: readonly PairedWord[], size: number): Generator<Pair | null> {
  const lists = paired.map(({ texts, positions }) => decodePositions(decodeTexts(texts), positions));
  const cursors = new Uint32Array(paired.length);
  const found = new Map<number, number[]>();
  // By position in a text: the index of its word plus one, and what follows it.
  const here = new Uint8Array(65_537);
  const behind = new Uint8Array(65_537);
  for (let text = 0; text < size; text++) {
    const positions = findPositions(lists, { cursors, text, here, behind });
    for (const position of positions)
      note(found, {
        first: (here[position] ?? 0) - 1,
        glue: behind[position] ?? 0,
        second: (here[position + 1] ?? 0) - 1,
        text,
      });
    for (const position of positions) here[position] = 0;
    if (text % textsAtOnce === textsAtOnce - 1) yield null;
  }
  for (const [key, texts] of found)
    yield { term: pairTerm(paired[key >> 10]?.term ?? '', (key >> 8) & 3, paired[key & 255]?.term ?? ''), texts };
}

interface Placing {
  readonly cursors: Uint32Array;
  readonly text: number;
  readonly here: Uint8Array;
  readonly behind: Uint8Array;
}

/** Writes the positions of one text to the lookup tables and returns them. */
function findPositions(lists: readonly Positions[], { cursors, text, here, behind }: Placing): number[] {
  const positions: number[] = [];
  for (let word = 0; word < lists.length; word++) {
    const { keys, glues } = lists[word] ?? { keys: new Uint32Array(0), glues: new Uint8Array(0) };
    let cursor = cursors[word] ?? 0;
    for (; cursor < keys.length && (keys[cursor] ?? 0) >>> 16 === text; cursor++) {
      const position = (keys[cursor] ?? 0) & 0xffff;
      here[position] = word + 1;
      behind[position] = glues[cursor] ?? 0;
      positions.push(position);
    }
    cursors[word] = cursor;
  }
  return positions;
}

function note(
  found: Map<number, number[]>,
  {
    first,
    glue,
    second,
    text,
  }: { readonly first: number; readonly glue: number; readonly second: number; readonly text: number },
): void {
  if (second < 0) return;
  const key = (first << 10) | (glue << 8) | second;
  const texts = found.get(key);
  if (texts === undefined) found.set(key, [text]);
  else if (texts.at(-1) !== text) texts.push(text);
}
