import { createByteWriter, type ByteWriter } from './postings.ts';
import { commonWords, pairsOf, worthPairs } from './pairs.ts';
import { decodePlaces, decodeTexts, encodeTexts, glue, lastPlace, mostTexts } from './postings.ts';
import { gramsOf, isWord, mostPositions, tokenise } from './tokens.ts';

/** A row of the index: a term and where it occurs. */
export interface SegmentRow {
  /**
   * 0: a word or a single character, with its places; 1: one to three letters in a row; 2: texts that have to be looked
   * through; 3: a common word, whose pairs with other common words are there; 4: such a pair.
   */
  readonly kind: 0 | 1 | 2 | 3 | 4;
  readonly term: string;
  readonly texts: Uint8Array;
  readonly places: Uint8Array | null;
}

interface Place {
  readonly position: number;
  /** See `glue`. */
  readonly behind: number;
}

interface WordPostings {
  readonly texts: number[];
  readonly places: ByteWriter;
  position: number;
  /** Where the last place begins. */
  lastAt: number;
}

/** A part of the index while it is made. Its texts are the messages of one conversation each, at most 65,536 of them. */
export interface SegmentBuilder {
  readonly size: () => number;
  /** Answers false when there is no room left. @param messages folded. */
  add(conversationId: number, messages: readonly string[]): boolean;
  /** Takes over a word of another segment. @param numbers of its texts here; -1: gone. */
  takeOver(row: Pick<SegmentRow, 'term' | 'texts' | 'places'>, numbers: Int32Array): void;
  /** Makes room for texts that are taken over. Answers their numbers: -1 for a conversation 0. */
  takeTexts(conversations: Uint32Array): Int32Array;
  conversations(): Uint32Array;
  /** All rows. Null: a good moment to let others in. */
  rows(): Iterable<SegmentRow | null>;
}

export const cutTexts = 'cut';

/** @param pairsFrom texts from which common words are paired. */
export function createSegmentBuilder(pairsFrom = worthPairs): SegmentBuilder {
  const conversations: number[] = [];
  const words = new Map<string, WordPostings>();
  const cut: number[] = [];

  function place(word: string, text: number, { position, behind }: Place): void {
    let postings = words.get(word);
    if (postings === undefined)
      words.set(word, (postings = { texts: [], places: createByteWriter(), position: 0, lastAt: 0 }));
    if (postings.texts.at(-1) !== text) {
      if (postings.texts.length > 0) postings.places.mark(postings.lastAt, lastPlace);
      postings.texts.push(text);
      postings.position = 0;
    }
    postings.lastAt = postings.places.length();
    postings.places.number(((position - postings.position) << 3) | behind);
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
        if (tokens.isCut || position + tokens.words.length > mostPositions) isCut = true;
        for (let index = 0; index < tokens.words.length; index++) {
          if (position < mostPositions) position += 1;
          place(tokens.words[index] ?? '', text, { position, behind: tokens.glues[index] ?? glue.end });
        }
      }
      if (isCut) cut.push(text);
      return true;
    },
    takeTexts: (taken) =>
      Int32Array.from(taken, (conversation) =>
        conversation === 0 || conversations.length >= mostTexts ? -1 : conversations.push(conversation) - 1,
      ),
    takeOver({ term, texts: bytes, places }, numbers) {
      const texts = decodeTexts(bytes);
      if (places === null)
        return void cut.push(...Array.from(texts, (text) => numbers[text] ?? -1).filter((text) => text >= 0));
      const { keys, glues } = decodePlaces(texts, places);
      for (let index = 0; index < keys.length; index++) {
        const key = keys[index] ?? 0;
        const text = numbers[key >>> 16] ?? -1;
        if (text >= 0) place(term, text, { position: key & 0xffff, behind: glues[index] ?? glue.end });
      }
    },
    conversations: () => Uint32Array.from(conversations),
    *rows() {
      yield* wordRows(words, conversations.length);
      yield* gramRows(words, conversations.length);
      if (conversations.length >= pairsFrom) yield* pairRows(words, conversations.length);
      if (cut.length > 0)
        yield {
          kind: 2,
          term: cutTexts,
          texts: encodeTexts(
            cut.sort((one, other) => one - other),
            conversations.length,
          ),
          places: null,
        };
    },
  };
}

function* wordRows(words: ReadonlyMap<string, WordPostings>, size: number): Generator<SegmentRow> {
  for (const [term, { texts, places, lastAt }] of words) {
    places.mark(lastAt, lastPlace);
    yield { kind: 0, term, texts: encodeTexts(texts, size), places: places.bytes() };
  }
}

function* pairRows(words: ReadonlyMap<string, WordPostings>, size: number): Generator<SegmentRow | null> {
  const common = commonWords(words, size).map(([term, { texts, places }]) => ({
    term,
    texts: encodeTexts(texts, size),
    places: places.bytes(),
  }));
  for (const { term } of common) yield { kind: 3, term, texts: encodeTexts([], size), places: null };
  for (const pair of pairsOf(common, size))
    yield pair === null ? null : { kind: 4, term: pair.term, texts: encodeTexts(pair.texts, size), places: null };
}

/** Letters occur where the words with them do. */
function* gramRows(words: ReadonlyMap<string, WordPostings>, size: number): Generator<SegmentRow> {
  const wordsOfGram = new Map<string, WordPostings[]>();
  for (const [word, postings] of words) {
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
      yield { kind: 1, term, texts: encodeTexts(only.texts, size), places: null };
      continue;
    }
    marks.fill(0);
    for (const { texts } of holders) for (let index = 0; index < texts.length; index++) marks[texts[index] ?? 0] = 1;
    const union: number[] = [];
    for (let text = 0; text < size; text++) if (marks[text] === 1) union.push(text);
    yield { kind: 1, term, texts: encodeTexts(union, size), places: null };
  }
}
