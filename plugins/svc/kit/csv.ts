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
  if (typeof value === 'number' || value === '') return String(value);
  const safe = /^\s*[=+\-@|\uff1d\uff0b\uff0d\uff20]/.test(value) ? `'${value}` : value;
  return `"${safe.replaceAll('"', '""')}"`;
}

/** The columns of a CSV file: the name and the value of each. */
export type CsvColumns<Row> = readonly (readonly [name: string, read: (row: Row) => string | number])[];

/** A CSV file (RFC 4180, UTF-8 with a byte order mark for spreadsheets) with a line for each row. */
export async function* writeCsv<Row>(
  columns: CsvColumns<Row>,
  rows: AsyncIterable<Row> | Iterable<Row>,
): AsyncGenerator<string> {
  yield byteOrderMark + csvLine(columns.map(([name]) => name));
  for await (const row of rows) yield csvLine(columns.map(([, read]) => read(row)));
}
