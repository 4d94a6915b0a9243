import { formatNumber } from '#plugin-api';

/** The byte order mark. Spreadsheets need it at the start of a file to recognize UTF-8. */
export const byteOrderMark = '\ufeff';

/** One line of CSV (RFC 4180), with its line break. */
export function csvLine(values: readonly (string | number)[]): string {
  return `${values.map(csvCell).join(',')}\r\n`;
}

/**
 * Texts come from callers and visitors. They are always quoted, because spreadsheets of some countries separate cells at `;`
 * or tabs, and get an apostrophe where a spreadsheet would run them as a formula.
 */
function csvCell(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const safe = /^\s*[=+\-@|\uff1d\uff0b\uff0d\uff20]/.test(value) ? `'${value}` : value;
  return `"${safe.replaceAll('"', '""')}"`;
}

/** A table read from CSV. */
export interface CsvTable {
  /** Unique names of the columns: a column without a name is `Column 3`, a second `name` is `name (2)`. */
  readonly header: readonly string[];
  /** The lines below the first, by name of the column. A missing cell is ''. Blank lines are left out. */
  readonly rows: readonly Readonly<Record<string, string>>[];
  readonly delimiter: string;
}

/** The text is not valid CSV. The message says where. */
export class CsvError extends Error {}

const mark = '\ufeff';
const delimiters = [',', ';', '\t', '|'];
const mostColumns = 500;
const mostCells = 1_000_000;

/**
 * Reads CSV (RFC 4180) as spreadsheets write it: any line break, a byte order mark, `sep=;` as the first line, and `;`, a tab or
 * `|` as the delimiter, whichever is most frequent in the first line. Cells are trimmed.
 *
 * @throws CsvError when a quote is not closed, the text is empty, a line has more than 500 cells, or short lines
 *   below a long one would make more than 1,000,000 cells
 */
export function readCsv(text: string): CsvTable {
  const bare = text.startsWith(mark) ? text.slice(1) : text;
  const declared = /^sep=(.)\r?\n/.exec(bare);
  const body = declared ? bare.slice(declared[0].length) : bare;
  const delimiter = declared?.[1] ?? detectDelimiter(body);
  const lines = readLines(body, delimiter).filter((cells) => cells.some((cell) => cell !== ''));
  const [first, ...rest] = lines;
  if (!first)
    throw new CsvError(
      'The file is empty. Put the names of the columns into the first line and one row into each line below.',
    );
  const width = lines.reduce((most, cells) => Math.max(most, cells.length), 0);
  if (width > mostColumns)
    throw new CsvError(
      `The file has ${formatNumber(width)} columns, but at most ${formatNumber(mostColumns)} are read. ` +
        'Delete the columns that you do not need.',
    );
  // A table without gaps has fewer cells than characters, so only short lines below a long one can exceed this.
  if (rest.length * width > Math.max(mostCells, text.length))
    throw new CsvError(
      `The file has ${formatNumber(rest.length)} rows of up to ${formatNumber(width)} columns, which is more than ` +
        `${formatNumber(mostCells)} cells. Split it into several files.`,
    );
  const header = uniqueNames(first, width);
  return {
    header,
    delimiter,
    rows: rest.map((cells) => Object.fromEntries(header.map((name, at) => [name, cells[at] ?? '']))),
  };
}

function detectDelimiter(text: string): string {
  const counts = new Map(delimiters.map((delimiter) => [delimiter, 0]));
  let quoted = false;
  for (const character of text) {
    if (character === '"') quoted = !quoted;
    if (quoted) continue;
    if (character === '\n' || character === '\r') break;
    const count = counts.get(character);
    if (count !== undefined) counts.set(character, count + 1);
  }
  return delimiters.reduce((best, one) => ((counts.get(one) ?? 0) > (counts.get(best) ?? 0) ? one : best));
}

function readLines(text: string, delimiter: string): string[][] {
  const lines: string[][] = [];
  let cells: string[] = [];
  let at = 0;
  while (at < text.length) {
    const cell =
      text[skipBlanks(text, at, delimiter)] === '"'
        ? quotedCell(text, skipBlanks(text, at, delimiter), delimiter)
        : plainCell(text, at, delimiter);
    cells.push(cell.value);
    at = cell.end;
    if (text[at] === delimiter) {
      at += 1;
      // An empty cell follows a delimiter at the end.
      if (at === text.length) cells.push('');
      continue;
    }
    at += text.startsWith('\r\n', at) ? 2 : 1;
    lines.push(cells);
    cells = [];
  }
  if (cells.length > 0) lines.push(cells);
  return lines;
}

interface Cell {
  readonly value: string;
  /** Index of the delimiter or line break after the cell, or the length of the text. */
  readonly end: number;
}

function plainCell(text: string, start: number, delimiter: string): Cell {
  let end = start;
  while (end < text.length && !endsCell(text[end], delimiter)) end += 1;
  return { value: text.slice(start, end).trim(), end };
}

function quotedCell(text: string, start: number, delimiter: string): Cell {
  let value = '';
  let at = start + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote === -1)
      throw new CsvError(
        `Line ${String(text.slice(0, start).split(/\r\n|\r|\n/).length)}: a quote is not closed. Close it, or write "" for a quote.`,
      );
    value += text.slice(at, quote);
    at = quote + 1;
    if (text[at] !== '"') break;
    value += '"';
    at += 1;
  }
  const rest = plainCell(text, at, delimiter);
  return { value: value.trim() + rest.value, end: rest.end };
}

function skipBlanks(text: string, start: number, delimiter: string): number {
  let at = start;
  while (text[at] === ' ' || (text[at] === '\t' && delimiter !== '\t')) at += 1;
  return at;
}

function endsCell(character: string | undefined, delimiter: string): boolean {
  return character === delimiter || character === '\n' || character === '\r';
}

/** In linear time, however many columns have one name. */
function uniqueNames(first: readonly string[], width: number): string[] {
  const names = new Set<string>();
  const copies = new Map<string, number>();
  for (let at = 0; at < width; at += 1) {
    const name = first[at] || `Column ${String(at + 1)}`;
    let unique = name;
    while (names.has(unique)) {
      const copy = (copies.get(name) ?? 1) + 1;
      copies.set(name, copy);
      unique = `${name} (${String(copy)})`;
    }
    names.add(unique);
  }
  return [...names];
}
