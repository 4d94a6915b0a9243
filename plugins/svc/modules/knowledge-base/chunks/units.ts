import type { CountTokens } from '../../../kit/count-tokens.ts';

/** The smallest piece of a passage: a sentence, a line of a list, or part of a long sentence. */
export interface Unit {
  readonly text: string;
  /** Tokens of the text and the separator before it. */
  readonly tokens: number;
  /** Separator from the previous unit of a passage. */
  readonly gap: ' ' | '\n' | '\n\n';
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'sentence' });
/** Characters that are searched for sentences at a time: the search takes the square of their number. */
const sliceLength = 2_000;

/** Splits a block into sentences, or into lines if it is a list or table. Splits sentences that exceed `size`. */
export function splitUnits(
  block: string,
  { size, count }: { readonly size: number; readonly count: CountTokens },
): Unit[] {
  const units: Unit[] = [];
  const add = (text: string, gap: Unit['gap']): void => {
    for (const [at, piece] of splitText(text, size, count).entries())
      units.push({ text: piece, tokens: count(piece) + 1, gap: at > 0 ? ' ' : units.length === 0 ? '\n\n' : gap });
  };
  const isLines = /^\s*(?:[-*+]|\d+[.)]|\||`{3}|~{3}|>)/.test(block);
  for (const line of isLines ? block.split('\n') : [joinLines(block)]) {
    const text = isLines ? line.trimEnd() : line;
    if (text.trim() === '') continue;
    if (count(text) <= size && isLines) add(text, '\n');
    else
      for (const [at, sentence] of splitSentences(text).entries())
        if (sentence.trim() !== '') add(sentence.trim(), at === 0 ? '\n' : ' ');
  }
  return units;
}

/** Splits a text into sentences, in time in proportion to its length. A sentence that is longer than a slice is split at a word. */
function splitSentences(text: string): string[] {
  const sentences: string[] = [];
  let start = 0;
  while (start < text.length) {
    const slice = text.slice(start, start + sliceLength);
    const found = Array.from(segmenter.segment(slice), ({ segment }) => segment);
    if (start + slice.length < text.length) {
      // The last sentence may go on behind the slice.
      if (found.length > 1) found.pop();
      else found[0] = slice.slice(0, slice.lastIndexOf(' ') + 1) || slice;
    }
    sentences.push(...found);
    start += found.reduce((length, sentence) => length + sentence.length, 0);
  }
  return sentences;
}

/** Splits a text at words, and inside words that exceed `size`. */
function splitText(text: string, size: number, count: CountTokens): string[] {
  if (count(text) <= size) return [text];
  const pieces: string[] = [];
  let piece = '';
  let tokens = 0;
  const end = (): void => {
    if (piece.trim() !== '') pieces.push(piece.trim());
    [piece, tokens] = ['', 0];
  };
  for (const word of text.split(/(?<=\s)/)) {
    for (const part of splitWord(word, size, count)) {
      const more = count(part);
      if (tokens + more > size) end();
      piece += part;
      tokens += more;
    }
  }
  end();
  return pieces;
}

function splitWord(word: string, size: number, count: CountTokens): string[] {
  if (word.length <= size) return [word];
  if (count(word) <= size) return [word];
  const letters = [...word];
  // A character has at most three tokens.
  const length = Math.max(1, Math.floor(size / 3));
  return Array.from({ length: Math.ceil(letters.length / length) }, (_, at) =>
    letters.slice(at * length, (at + 1) * length).join(''),
  );
}

/** The lines without white space around them and without blank ones. */
function joinLines(block: string): string {
  return block
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');
}
