/**
 * What a command answered, as text: a string as it is, a list of objects as a table, an object as `name: value` lines;
 * nothing for undefined. With `json` everything as JSON.
 */
export function formatResult(result: unknown, json: boolean): string {
  if (json) return JSON.stringify(result ?? null, null, 2);
  if (result === undefined || result === null) return '';
  if (Array.isArray(result)) return formatList(result);
  if (typeof result === 'object')
    return Object.entries(result)
      .map(([name, value]) => `${name}: ${cell(value)}`)
      .join('\n');
  return cell(result);
}

function formatList(list: readonly unknown[]): string {
  if (list.length === 0) return 'None.';
  if (!list.every((row): row is Record<string, unknown> => typeof row === 'object' && row !== null))
    return list.map(cell).join('\n');
  const columns = [...new Set(list.flatMap((row) => Object.keys(row)))];
  const rows = [columns, ...list.map((row) => columns.map((column) => cell(row[column])))];
  const widths = columns.map((_column, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((text, index) => text.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function cell(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
