import { readXml } from './xml.reader.ts';
import type { ZipEntries } from './zip.reader.ts';

/** How the number of a cell is shown. */
export type CellFormat = 'number' | 'date' | 'time' | 'percent';

const secondsOfDay = 86_400;
/** Days from the first day of each calendar to 1970. */
const daysTo1970 = { 1900: 25_569, 1904: 24_107 };

/** The formats of cells, by the number of their style. */
export async function readCellFormats(zip: ZipEntries, part: string): Promise<CellFormat[]> {
  const custom = new Map<number, string>();
  const formats: CellFormat[] = [];
  let isCells = false;
  await readXml(zip.read(part), {
    open(name, { numFmtId = '0', formatCode = '' }) {
      if (name === 'numFmt') custom.set(Number(numFmtId), formatCode);
      if (name === 'cellXfs') isCells = true;
      if (name === 'xf' && isCells) formats.push(formatOf(Number(numFmtId), custom.get(Number(numFmtId))));
    },
    close(name) {
      if (name === 'cellXfs') isCells = false;
    },
  });
  return formats;
}

/** @param code of a custom format */
function formatOf(id: number, code: string | undefined): CellFormat {
  if (code === undefined) {
    if (id === 9 || id === 10) return 'percent';
    if ((id >= 14 && id <= 17) || id === 22 || (id >= 27 && id <= 36) || (id >= 50 && id <= 58)) return 'date';
    return (id >= 18 && id <= 21) || (id >= 45 && id <= 47) ? 'time' : 'number';
  }
  const plain = code.replace(/"[^"]*"|\\.|_.|\[[^\][]*\]/g, '');
  if (/[yd]/i.test(plain)) return 'date';
  if (/[hs]/i.test(plain)) return 'time';
  return plain.includes('%') ? 'percent' : 'number';
}

/** A number as people read it: a date as 2025-03-31, 0.25 as 25%. */
export function formatCell(value: string, format: CellFormat, is1904: boolean): string {
  const number = Number(value);
  if (!Number.isFinite(number)) return value;
  if (format === 'percent') return `${rounded(number * 100)}%`;
  if (format === 'number') return rounded(number);
  const seconds = Math.round(number * secondsOfDay);
  if (format === 'time' && number >= 0 && number < 1) return dateOf(seconds).slice(11, 19);
  const date = dateOf(seconds - daysTo1970[is1904 ? 1904 : 1900] * secondsOfDay);
  return date === ''
    ? value
    : date.endsWith('T00:00:00.000Z')
      ? date.slice(0, 10)
      : date.slice(0, 19).replace('T', ' ');
}

/** Without the noise of binary fractions. */
const rounded = (number: number): string => String(Number(number.toPrecision(15)));

/** '' beyond the years that dates have. */
function dateOf(seconds: number): string {
  const date = new Date(seconds * 1_000);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
}
