import { createByteWriter, type ByteWriter } from './postings.ts';
import { commonWords, pairsOf, worthPairs } from './pairs.ts';
import { decodePositions, decodeTexts, encodeTexts, glue, lastPosition, mostTexts } from './postings.ts';
import { gramsOf, isWord, mostPositions, tokenise } from './tokens.ts';

/** A row of the index: a term and where it occurs. */
export interface SegmentRow {
  /**
   * 0: a word or a single character, with its positions; 1: one to three letters in a row; 2: texts that have to be looked
   * through; 3: a common word, whose pairs with other common words are there; 4: such a pair.
   */
  readonly kind: 0 | 1 | 2 | 3 | 4;
  readonly term: string;
  readonly texts: Uint8Array;
  readonly positions: Uint8Array | null;
}

interface WordPosition {
  readonly position: number;
  /** See `glue`. */
  readonly behind: number;
}

interface WordPostings {
  readonly texts: number[];
  readonly positions: ByteWriter;
  position: number;
  /** Where the last place begins. */
  lastAt: number;
}

/** A part of the index while it is made. Its texts are the messages of one conversation each, at most 65,536 of them. */
export interface SegmentBuilder {
  readonly size: () => number;
  /** Returns false if the segment is full. @param messages Folded. */
  add(conversationId: number, messages: readonly string[]): boolean;
  /** Adds a word of another segment. @param numbers New numbers of its texts; -1 if deleted. */
  takeOver(row: Pick<SegmentRow, 'term' | 'texts' | 'positions'>, numbers: Int32Array): void;
  /** Adds texts of another segment. Returns their new numbers, -1 for conversation 0. */
  takeTexts(conversations: Uint32Array): Int32Array;
  conversations(): Uint32Array;
  /** All rows. Null: a good moment to let others in. */
  rows(): Iterable<SegmentRow | null>;
}

export const cutTexts = 'cut';

/** @param pairsFrom texts from which common words are paired. */
export function createSegmentBuilder(pairsFrom = worthPairs): SegmentBuilder {
  const conversations: number[] = [];
  const postingsByWord = new Map<string, WordPostings>();
  const cut: number[] = [];

  function addPosition(word: string, text: number, { position, behind }: WordPosition): void {
    let postings = postingsByWord.get(word);
    if (postings === undefined)
      postingsByWord.set(word, (postings = { texts: [], positions: createByteWriter(), position: 0, lastAt: 0 }));
    if (postings.texts.at(-1) !== text) {
      if (postings.texts.length > 0) postings.positions.mark(postings.lastAt, lastPosition);
      postings.texts.push(text);
      postings.position = 0;
    }
    postings.lastAt = postings.positions.length();
    postings.positions.number(((position - postings.position) << 3) | behind);
    postings.position = position;
  }

  return {
    size: () => conversations.length,
    add(conversationId, messages) {
      if (conversations.length >= mostTexts) return false;
      const text = conversations.push(conversationId) - 1;
      let position = 0;
      let isCut = false;
      for (const message of messages) {
        const tokens = tokenise(message);
        if (tokens.isCut || position + tokens.terms.length > mostPositions) isCut = true;
        for (let index = 0; index < tokens.terms.length; index++) {
          if (position < mostPositions) position += 1;
          addPosition(tokens.terms[index] ?? '', text, { position, behind: tokens.glues[index] ?? glue.end });
        }
      }
      if (isCut) cut.push(text);
      return true;
    },
    takeTexts: (taken) =>
      Int32Array.from(taken, (conversation) =>
        conversation === 0 || conversations.length >= mostTexts ? -1 : conversations.push(conversation) - 1,
      ),
    takeOver({ term, texts: bytes, positions }, numbers) {
      const texts = decodeTexts(bytes);
      if (positions === null)
        return void cut.push(...Array.from(texts, (text) => numbers[text] ?? -1).filter((text) => text >= 0));
      const { keys, glues } = decodePositions(texts, positions);
      for (let index = 0; index < keys.length; index++) {
        const key = keys[index] ?? 0;
        const text = numbers[key >>> 16] ?? -1;
        if (text >= 0) addPosition(term, text, { position: key & 0xffff, behind: glues[index] ?? glue.end });
      }
    },
    conversations: () => Uint32Array.from(conversations),
    *rows() {
      yield* wordRows(postingsByWord, conversations.length);
      yield* gramRows(postingsByWord, conversations.length);
      if (conversations.length >= pairsFrom) yield* pairRows(postingsByWord, conversations.length);
      if (cut.length > 0)
        yield {
          kind: 2,
          term: cutTexts,
          texts: encodeTexts(
            cut.sort((one, other) => one - other),
            conversations.length,
          ),
          positions: null,
        };
    },
  };
}

function* wordRows(postingsByWord: ReadonlyMap<string, WordPostings>, size: number): Generator<SegmentRow> {
  for (const [term, { texts, positions, lastAt }] of postingsByWord) {
    positions.mark(lastAt, lastPosition);
    yield { kind: 0, term, texts: encodeTexts(texts, size), positions: positions.bytes() };
  }
}

function* pairRows(postingsByWord: ReadonlyMap<string, WordPostings>, size: number): Generator<SegmentRow | null> {
  const common = commonWords(postingsByWord, size).map(([term, { texts, positions }]) => ({
    term,
    texts: encodeTexts(texts, size),
    positions: positions.bytes(),
  }));
  for (const { term } of common) yield { kind: 3, term, texts: encodeTexts([], size), positions: null };
  for (const pair of pairsOf(common, size))
    yield pair === null ? null : { kind: 4, term: pair.term, texts: encodeTexts(pair.texts, size), positions: null };
}

/** Letters occur where the words with them do. */
function* gramRows(postingsByWord: ReadonlyMap<string, WordPostings>, size: number): Generator<SegmentRow> {
  const wordsOfGram = new Map<string, WordPostings[]>();
  for (const [word, postings] of postingsByWord) {
    if (!isWord(word)) continue;
    for (const gram of gramsOf(word)) {
      const found = wordsOfGram.get(gram);
      if (found === undefined) wordsOfGram.set(gram, [postings]);
      else found.push(postings);
    }
  }
  const marks = new Uint8Array(size);
  for (const [term, holders] of wordsOfGram) {
    const [only] = holders;
    if (holders.length === 1 && only !== undefined) {
      yield { kind: 1, term, texts: encodeTexts(only.texts, size), positions: null };
      continue;
    }
    marks.fill(0);
    for (const { texts } of holders) for (let index = 0; index < texts.length; index++) marks[texts[index] ?? 0] = 1;
    const union: number[] = [];
    for (let text = 0; text < size; text++) if (marks[text] === 1) union.push(text);
    yield { kind: 1, term, texts: encodeTexts(union, size), positions: null };
  }
}
