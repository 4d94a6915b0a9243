import { DocumentError, formatNumber } from '#plugin-api';
import { CsvError, parse } from 'csv-parse/sync';

/** A table read from CSV. */
export interface CsvTable {
  /** Unique names of the columns: a column without a name is `Column 3`, a second `name` is `name (2)`. */
  readonly header: readonly string[];
  /** The lines below the first, by name of the column. A missing cell is ''. Blank lines are left out. */
  readonly rows: readonly Readonly<Record<string, string>>[];
  readonly delimiter: string;
}

const delimiters = [',', ';', '\t', '|'];
const mostColumns = 500;
const mostCells = 1_000_000;

/**
 * Reads CSV (RFC 4180) as spreadsheets write it: any line break, a byte order mark, `sep=;` as the first line, and `;`, a tab or
 * `|` as the delimiter, whichever is most frequent in the first line. Cells are trimmed.
 *
 * @throws DocumentError when a quote is not closed or text follows it, the text is empty, a line has more than 500 cells, or
 *   short lines below a long one would make more than 1,000,000 cells
 */
export function parseCsv(text: string): CsvTable {
  const declared = /^\ufeff?sep=(.)\r?\n/.exec(text);
  const body = declared ? text.slice(declared[0].length) : text;
  const delimiter = declared?.[1] ?? detectDelimiter(body);
  const { lines, width } = readLines(body, delimiter);
  const [first, ...rest] = lines;
  if (!first)
    throw new DocumentError(
      'The file is empty. Put the names of the columns into the first line and one row into each line below.',
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

/** The lines that are not blank, and the most cells of one. Stops at the first line that exceeds a limit. */
function readLines(text: string, delimiter: string): { readonly lines: readonly string[][]; readonly width: number } {
  let count = 0;
  let width = 0;
  let end = 0;
  const onRecord = (record: string[], { bytes }: { readonly bytes: number }): string[] | null => {
    end = bytes;
    const cells = record.map((cell) => cell.trim());
    if (cells.every((cell) => cell === '')) return null;
    count += 1;
    width = Math.max(width, cells.length);
    if (width > mostColumns)
      throw new DocumentError(
        `The file has ${formatNumber(width)} columns, but at most ${formatNumber(mostColumns)} are read. ` +
          'Delete the columns that you do not need.',
      );
    // A table without gaps has fewer cells than characters, so only short lines below a long one can exceed this.
    if ((count - 1) * width > Math.max(mostCells, text.length))
      throw new DocumentError(
        `The file has rows of up to ${formatNumber(width)} columns, and more than ${formatNumber(mostCells)} cells. ` +
          'Split it into several files.',
      );
    return cells;
  };
  try {
    const lines: string[][] = parse(text, {
      bom: true,
      delimiter,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      relax_quotes: true,
      trim: true,
      onRecord,
    });
    return { lines, width };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = Buffer.from(text)
      .toString('utf8', 0, end)
      .split(/\r\n|\r|\n/).length;
    const problem =
      error.code === 'CSV_QUOTE_NOT_CLOSED'
        ? 'a quote is not closed. Close it'
        : 'text follows a closing quote. Delete it';
    throw new DocumentError(`Line ${String(line)}: ${problem}, or write "" for a quote.`);
  }
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
