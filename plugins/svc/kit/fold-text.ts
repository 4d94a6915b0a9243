/** Text as it is compared without regard to case and accents: decomposed, without marks, in lower case. */
export function foldText(text: string): string {
  // Plain ASCII, the common case, has no marks to lose.
  return /^[\x00-\x7f]*$/.test(text)
    ? text.toLowerCase()
    : text
        .normalize('NFKD')
        .replace(/\p{M}+/gu, '')
        .toLowerCase();
}

/** Whether a text holds one of the entries: whole words, without regard to case and accents. */
export function hasBannedWord(text: string, banned: readonly string[]): boolean {
  if (banned.length === 0) return false;
  const padded = ` ${normalizeWords(text)} `;
  return banned.some((entry) => {
    const words = normalizeWords(entry);
    // Of an entry without letters and digits, `***` say, the characters themselves count.
    return words === '' ? entry.trim() !== '' && text.includes(entry.trim()) : padded.includes(` ${words} `);
  });
}

/** Letters and digits in lower case and without accents; everything between them is one space. Invisible characters split no word. */
function normalizeWords(text: string): string {
  return foldText(text.replace(/\p{Cf}/gu, ''))
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
