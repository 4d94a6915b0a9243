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
