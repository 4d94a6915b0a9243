import { DocumentError, formatNumber } from '#plugin-api';

/** A table read from CSV. */
export interface CsvTable {
  /** Unique names of the columns: a column without a name is `Column 3`, a second `name` is `name (2)`. */
  readonly header: readonly string[];
  /** The lines below the first, by name of the column. A missing cell is ''. Blank lines are left out. */
  readonly rows: readonly Readonly<Record<string, string>>[];
  readonly delimiter: string;
}

const mark = '\ufeff';
const delimiters = [',', ';', '\t', '|'];
const mostColumns = 500;
const mostCells = 1_000_000;

/**
 * Reads CSV (RFC 4180) as spreadsheets write it: any line break, a byte order mark, `sep=;` as the first line, and `;`, a tab or
 * `|` as the delimiter, whichever is most frequent in the first line. Cells are trimmed.
 *
 * @throws DocumentError when a quote is not closed, the text is empty, a line has more than 500 cells, or short lines
 *   below a long one would make more than 1,000,000 cells
 */
export function parseCsv(text: string): CsvTable {
  const bare = text.startsWith(mark) ? text.slice(1) : text;
  const declared = /^sep=(.)\r?\n/.exec(bare);
  const body = declared ? bare.slice(declared[0].length) : bare;
  const delimiter = declared?.[1] ?? detectDelimiter(body);
  const lines = readLines(body, delimiter).filter((cells) => cells.some((cell) => cell !== ''));
  const [first, ...rest] = lines;
  if (!first)
    throw new DocumentError(
      'The file is empty. Put the names of the columns into the first line and one row into each line below.',
    );
  const width = lines.reduce((most, cells) => Math.max(most, cells.length), 0);
  if (width > mostColumns)
    throw new DocumentError(
      `The file has ${formatNumber(width)} columns, but at most ${formatNumber(mostColumns)} are read. ` +
        'Delete the columns that you do not need.',
    );
  // A table without gaps has fewer cells than characters, so only short lines below a long one can exceed this.
  if (rest.length * width > Math.max(mostCells, text.length))
    throw new DocumentError(
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

/** A table as it leaves the thread: one text per row, because a million cells would take long to copy. */
export interface PackedCsv extends Pick<CsvTable, 'header' | 'delimiter'> {
  /** Each a JSON object of its cells by the name of the column. */
  readonly rows: readonly string[];
}

/** Reads CSV in a thread. @throws DocumentError as `parseCsv` */
export function parsePackedCsv({ text }: { readonly text: string }): PackedCsv {
  const { header, delimiter, rows } = parseCsv(text);
  return { header, delimiter, rows: rows.map((row) => JSON.stringify(row)) };
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
      throw new DocumentError(
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
