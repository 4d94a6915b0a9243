import { Parser } from 'htmlparser2';

/** Scripts without spaces are compared by characters. */
const pattern = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]|[\p{L}\p{M}\p{N}]+/gu;

/** The words of a text, in lower case after NFKC. */
export const wordsOf = (text: string): string[] => text.normalize('NFKC').toLowerCase().match(pattern) ?? [];

/** Share of the expected words that were found, and of the found ones that were expected: 0 to 1. */
export function compareWords(expected: readonly string[], found: readonly string[]): Compared {
  const left = new Map<string, number>();
  for (const word of found) left.set(word, (left.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of expected) {
    const count = left.get(word) ?? 0;
    if (count > 0) {
      left.set(word, count - 1);
      common += 1;
    }
  }
  const recall = expected.length === 0 ? 1 : common / expected.length;
  const precision = found.length === 0 ? 0 : common / found.length;
  return { recall, precision, f1: recall + precision === 0 ? 0 : (2 * recall * precision) / (recall + precision) };
}

export interface Compared {
  readonly recall: number;
  readonly precision: number;
  readonly f1: number;
}

/** The text of HTML without scripts and styles. */
export function textOfHtml(html: string): string {
  let text = '';
  let skipped = 0;
  const parser = new Parser({
    onopentag: (name) => void (name === 'script' || name === 'style' ? (skipped += 1) : (text += ' ')),
    onclosetag: (name) => void (name === 'script' || name === 'style' ? (skipped -= 1) : (text += ' ')),
    ontext: (piece) => void (text += skipped > 0 ? '' : piece),
  });
  parser.end(html);
  return text;
}
