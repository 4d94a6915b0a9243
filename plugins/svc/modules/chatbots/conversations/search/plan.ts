import { glue } from './postings.ts';
import { isWord, longestWord, tokenise } from './tokens.ts';

/** How a searched text is found. */
export type Plan =
  /** Nothing is searched for. */
  | { readonly kind: 'none' }
  /** Up to three letters in a row, or one character of another kind. */
  | { readonly kind: 'term'; readonly term: string; readonly isGram: boolean }
  /** Part of a word. */
  | { readonly kind: 'part'; readonly part: string }
  /** The end of a word, whole words, the beginning of a word, with what stands between them. */
  | { readonly kind: 'phrase'; readonly words: readonly string[]; readonly glues: readonly number[] }
  /** Every text has to be looked at. */
  | { readonly kind: 'texts' };

/** @param text folded, without white space at its ends. */
export function planSearch(text: string): Plan {
  const { words, glues, isCut } = tokenise(text);
  const [only = ''] = words;
  if (words.length === 0) return { kind: 'none' };
  // White space of other kinds is not told apart in the index; words that long are cut.
  if (isCut || glues.slice(0, -1).includes(glue.otherSpace) || text.length >= longestWord * 8) return { kind: 'texts' };
  if (words.length > 1) return { kind: 'phrase', words, glues };
  if (!isWord(only)) return { kind: 'term', term: only, isGram: false };
  return Array.from(only).length <= 3 ? { kind: 'term', term: only, isGram: true } : { kind: 'part', part: only };
}
