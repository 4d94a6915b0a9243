import type { BenchRow } from './bench-row.ts';

export type Verdict = 'met' | 'missed' | '';

export function verdict({ value, target }: BenchRow): Verdict {
  if (!target) return '';
  return (target.at === 'least' ? value >= target.value : value <= target.value) ? 'met' : 'missed';
}

/** The rows as a table with columns of even width. */
export function table(rows: readonly BenchRow[]): string {
  const cells = [
    ['', 'value', 'target', ''],
    ...rows.map((row) => [row.name, `${round(row.value)} ${row.unit}`, wanted(row), verdict(row)]),
  ];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...cells.map((line) => (line[column] ?? '').length)));
  const lines = cells.map((line) =>
    line
      .map((cell, column) => (column === 1 ? cell.padStart(widths[1] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
  const notes = rows.filter(({ note }) => note !== undefined).map(({ name, note }) => `${name}: ${note ?? ''}`);
  return [...lines, ...notes].map((line) => `  ${line}`).join('\n');
}

function wanted({ target, unit }: BenchRow): string {
  return target ? `at ${target.at} ${round(target.value)} ${unit}` : '';
}

function round(value: number): string {
  if (!Number.isFinite(value)) return '-';
  return value.toLocaleString('en', { maximumFractionDigits: Math.abs(value) >= 100 ? 0 : 2 });
}
