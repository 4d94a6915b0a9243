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
