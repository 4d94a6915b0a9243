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

/** Whether a text contains one of the entries as whole words, ignoring case and accents. */
export function hasBannedWord(text: string, banned: readonly string[]): boolean {
  if (banned.length === 0) return false;
  const padded = ` ${normalizeWords(text)} `;
  return banned.some((entry) => {
    const phrase = normalizeWords(entry);
    // An entry without letters and digits, such as `***`, is searched literally.
    return phrase === '' ? entry.trim() !== '' && text.includes(entry.trim()) : padded.includes(` ${phrase} `);
  });
}

/** Lower-case letters and digits without accents, separated by one space. Invisible characters do not split words. */
function normalizeWords(text: string): string {
  return foldText(text.replace(/\p{Cf}/gu, ''))
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/** A value of a query or a form as a short text, at most 200 characters; '' if it is none. */
export function shortText(value: unknown): string {
  return typeof value === 'string' ? value.trim().slice(0, 200) : '';
}
