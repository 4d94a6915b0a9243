/** A mark by which spreadsheets know UTF-8; the first thing of a file. */
export const csvMark = '\ufeff';

/** One line of CSV (RFC 4180), with its end. */
export function csvLine(values: readonly (string | number)[]): string {
  return `${values.map(csvCell).join(',')}\r\n`;
}

/** A text that a spreadsheet would run as a formula gets an apostrophe before it: such texts come from callers and visitors. */
export function csvCell(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const safe = /^\s*[=+\-@|\uff1d\uff0b\uff0d\uff20]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) || safe !== safe.trim() ? `"${safe.replaceAll('"', '""')}"` : safe;
}
