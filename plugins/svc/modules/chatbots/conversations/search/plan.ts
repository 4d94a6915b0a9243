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
  /** The end of a word, whole words, the start of a word, and what separates them. */
  | { readonly kind: 'phrase'; readonly terms: readonly string[]; readonly glues: readonly number[] }
  /** Every text has to be looked at. */
  | { readonly kind: 'texts' };

/** @param text folded, without white space at its ends. */
export function planSearch(text: string): Plan {
  const { terms, glues, isCut } = tokenise(text);
  const [only = ''] = terms;
  if (terms.length === 0) return { kind: 'none' };
  // The index does not distinguish other kinds of white space, and long words are cut.
  if (isCut || glues.slice(0, -1).includes(glue.otherSpace) || text.length >= longestWord * 8) return { kind: 'texts' };
  if (terms.length > 1) return { kind: 'phrase', terms, glues };
  if (!isWord(only)) return { kind: 'term', term: only, isGram: false };
  return Array.from(only).length <= 3 ? { kind: 'term', term: only, isGram: true } : { kind: 'part', part: only };
}
