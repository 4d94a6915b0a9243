import { normalizeText } from '#plugin-api';

/** Letters of 3 by 5 dots: five rows, each an octal digit whose bits are the dots. */
const glyphs: Readonly<Record<string, string>> = {
  A: '25755',
  B: '65656',
  C: '34443',
  D: '65556',
  E: '74647',
  F: '74644',
  G: '34553',
  H: '55755',
  I: '72227',
  J: '11152',
  K: '55655',
  L: '44447',
  M: '57755',
  N: '65555',
  O: '25552',
  P: '65644',
  Q: '25563',
  R: '65655',
  S: '34216',
  T: '72222',
  U: '55557',
  V: '55552',
  W: '55775',
  X: '55255',
  Y: '55222',
  Z: '71247',
  0: '75557',
  1: '26227',
  2: '61247',
  3: '61216',
  4: '55711',
  5: '74616',
  6: '34757',
  7: '71244',
  8: '75757',
  9: '75716',
  '!': '22202',
  '?': '61202',
  '.': '00002',
  ',': '00024',
  '-': '00700',
  "'": '22000',
  ':': '02020',
  ' ': '00000',
};

/** Drawn for a letter that the font lacks. */
const unknown = '75557';

export const glyphWidth = 3;
export const glyphHeight = 5;

/** Whether the letter has a dot there. @param column 0 to 2. @param row 0 to 4. */
export function hasDot(letter: string, column: number, row: number): boolean {
  const rows = glyphs[letter] ?? unknown;
  return (Number(rows[row]) & (4 >> column)) !== 0;
}

/** Capital letters without accents. */
export function drawable(text: string): string {
  return normalizeText(text, 'NFKD').replace(/\p{M}/gu, '').toUpperCase().replace(/\s+/g, ' ').trim();
}
