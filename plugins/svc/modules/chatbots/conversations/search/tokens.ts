import { foldText } from '../../../../kit/fold-text.ts';
import { glue } from './postings.ts';

/** Text as it is searched: without case and accents, whatever form a letter takes at the end of a word. */
export function foldForSearch(text: string): string {
  return foldText(text).replaceAll('ς', 'σ');
}

/** Longer terms are cut, and their texts are looked through as they stand. */
export const longestWord = 64;
/** Positions a text has. */
export const mostPositions = 65_000;

export interface Tokens {
  readonly terms: readonly string[];
  /** What follows each, see `glue`. */
  readonly glues: readonly number[];
  readonly isCut: boolean;
}

const kinds = { space: 0, word: 1, single: 2 } as const;

/** By code of ASCII. */
const asciiKinds = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/\s/.test(character)) return kinds.space;
  return /[a-z0-9]/i.test(character) ? kinds.word : kinds.single;
});

const otherKinds = new Map<number, number>();

/** Scripts that put no space between terms are taken letter by letter. */
const spaceless =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

function kindOf(code: number): number {
  if (code < 128) return asciiKinds[code] ?? kinds.single;
  const found = otherKinds.get(code);
  if (found !== undefined) return found;
  const character = String.fromCodePoint(code);
  const kind = /\s/u.test(character)
    ? kinds.space
    : /[\p{L}\p{N}]/u.test(character) && !spaceless.test(character)
      ? kinds.word
      : kinds.single;
  otherKinds.set(code, kind);
  return kind;
}

/** Words are runs of letters and digits. Every other character except white space is one token. @param folded By foldForSearch. */
export function tokenise(folded: string): Tokens {
  const terms: string[] = [];
  const glues: number[] = [];
  let isCut = false;
  let at = 0;
  while (at < folded.length) {
    const code = folded.codePointAt(at) ?? 0;
    const kind = kindOf(code);
    let end = at + (code > 0xffff ? 2 : 1);
    if (kind === kinds.space) {
      while (end < folded.length && kindOf(folded.charCodeAt(end)) === kinds.space) end += 1;
      if (glues.length > 0) glues[glues.length - 1] = end - at === 1 && code === 32 ? glue.space : glue.otherSpace;
    } else {
      if (kind === kinds.word) end = endOfWord(folded, end, at + longestWord);
      terms.push(folded.slice(at, end));
      glues.push(glue.none);
      if (end - at >= longestWord) isCut = true;
    }
    at = end;
  }
  if (glues.length > 0) glues[glues.length - 1] = glue.end;
  return { terms, glues, isCut: isCut || terms.length > mostPositions };
}

function endOfWord(folded: string, from: number, limit: number): number {
  let end = from;
  while (end < folded.length && end < limit) {
    const code = folded.codePointAt(end) ?? 0;
    if (kindOf(code) !== kinds.word) break;
    end += code > 0xffff ? 2 : 1;
  }
  return end;
}

/** Whether a token is letters and digits in a row, and no single character of another kind. */
export function isWord(token: string): boolean {
  return kindOf(token.codePointAt(0) ?? 0) === kinds.word;
}

/** One, two and three characters in a row of a word. */
export function gramsOf(word: string): string[] {
  const characters = /^[\x00-\x7f]*$/.test(word) ? word : Array.from(word);
  const grams = new Set<string>();
  for (let at = 0; at < characters.length; at++) {
    let gram = '';
    for (let length = 0; length < 3 && at + length < characters.length; length++) {
      gram += characters[at + length] ?? '';
      grams.add(gram);
    }
  }
  return [...grams];
}
