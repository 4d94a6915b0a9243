import { foldText } from '../../../../kit/fold-text.ts';

/** Fewer characters have no trigram, so the index does not find them. */
export const indexedLength = 3;

/**
 * Characters that are no letters, in the order of `signLetters`. Others of that kind, such as emoji, become two letters.
 */
const signs = '.,?!:;\'"-_/\\()[]{}<>@#$%^&*+=|~`\n\t\r';
/** Composed letters, which folded text never contains. Each takes two bytes. */
const signLetters = Array.from('áâãäåçèéêëìíîïñòóôõöùúûüýÿāăąćĉċčďēĕėęě');
const lettersOfSigns = new Map(Array.from(signs, (sign, index) => [sign, signLetters[index] ?? '']));
/** The same for a space: one of them by the characters on both of its sides. */
const spaceLetters = Array.from('ĝğġģĥĩīĭįĵķĺļľńņňōŏőŕŗřśŝşšţťũūŭůűųŵŷźżž');
/** Hangul syllables: folding decomposes them too. */
const firstSyllable = 0xac00;
const firstLowSyllable = 0xb400;
/** Between messages. No text and no search contains it, so nothing is found across two messages. */
export const messageSeparator = '\ud7a3';

/**
 * Text as it is stored for searching: without case and accents, and with letters in the place of spaces, punctuation and emoji.
 * pg_trgm only indexes letters and digits, so that it would find `thank you` in every text with both words. The same text
 * on SQLite makes both databases find the same. The replacement can be undone: two texts are the same if their search texts are.
 *
 * A space says which characters are beside it, so that the trigrams around it are as selective as four or five characters:
 * "please how" is looked for in a tenth of the texts otherwise found by "please", "how" and any word that ends with an e
 * before one that begins with an h. No needle begins or ends with a space.
 */
export function toSearchText(text: string): string {
  return replaceSigns(fold(text));
}

/** What to look for in search texts; empty for a blank text. White space at the ends does not count. */
export function toNeedle(text: string): string {
  return replaceSigns(fold(text).trim());
}

/** A letter does not change its form at the end of a word. */
function fold(text: string): string {
  return foldText(text).replaceAll('ς', 'σ');
}

function replaceSigns(folded: string): string {
  return folded.replace(/[^\p{L}0-9]/gu, (sign, index: number) =>
    sign === ' '
      ? toSpaceLetter(folded.charCodeAt(index - 1) || 0, folded.charCodeAt(index + 1) || 0)
      : (lettersOfSigns.get(sign) ?? toSyllables(sign.codePointAt(0) ?? 0)),
  );
}

/** Two spaces after the same character are the same letter only if the next characters are so many codes apart. */
function toSpaceLetter(before: number, after: number): string {
  return spaceLetters[(before * 31 + after) % spaceLetters.length] ?? '';
}

function toSyllables(code: number): string {
  return String.fromCharCode(firstSyllable + (code >> 10), firstLowSyllable + (code & 1023));
}
