import { normalizeText } from '#plugin-api';

/** Normalizes text for comparison without case and accents: decomposed, without marks, in lower case. */
export function foldText(text: string): string {
  // Plain ASCII, the common case, has no marks.
  return /^[\x00-\x7f]*$/.test(text)
    ? text.toLowerCase()
    : normalizeText(text, 'NFKD')
        .replace(/\p{M}+/gu, '')
        .toLowerCase();
}

/**
 * Whether a text contains one of the entries as whole words, ignoring case and accents. Scripts that put no spaces between
 * words, such as Chinese, Japanese and Thai, are searched everywhere.
 */
export function hasBannedWord(text: string, banned: readonly string[]): boolean {
  if (banned.length === 0) return false;
  const padded = ` ${normalizeWords(text)} `;
  return banned.some((entry) => {
    const phrase = normalizeWords(entry);
    // An entry without letters and digits, such as `***`, is searched literally.
    return phrase === '' ? entry.trim() !== '' && text.includes(entry.trim()) : padded.includes(bounded(phrase));
  });
}

const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** With a space where a word must begin or end. */
function bounded(phrase: string): string {
  const space = (edge: string | undefined): string => (unspaced.test(edge ?? '') ? '' : ' ');
  const letters = [...phrase];
  return space(letters[0]) + phrase + space(letters.at(-1));
}

/** Accents and points over letters. Marks of other scripts are vowels, as in Hindi, or other letters, as in Japanese. */
const accents = /[\p{Script=Inherited}\p{Script=Hebrew}\p{Script=Arabic}]/u;

/**
 * Lower-case letters and digits without accents, separated by one space: `STRASSE` is `straße`. Invisible characters do not
 * split words.
 */
function normalizeWords(text: string): string {
  const letters = normalizeText(text.replace(/\p{Cf}/gu, ''), 'NFKD').replace(/\p{M}/gu, (mark) =>
    accents.test(mark) && !/[\u3099\u309a]/.test(mark) ? '' : mark,
  );
  return normalizeText(letters, 'NFC')
    .toUpperCase()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ')
    .trim();
}

/** A value of a query or a form as a short text, at most 200 characters; '' if it is none. */
export function shortText(value: unknown): string {
  return typeof value === 'string' ? value.trim().slice(0, 200) : '';
}
