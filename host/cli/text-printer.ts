import type { Config } from '../start/config.ts';

const writeLine = (line: string): void => void process.stdout.write(`${line}\n`);

/** Prints texts of the program in the language of the terminal. Log lines stay English. */
export async function textPrinter(
  { locale }: Pick<Config, 'locale'>,
  print: (line: string) => void = writeLine,
): Promise<(text: string) => void> {
  if (locale === '') return print;
  const { translatorWithoutSite } = await import('./terminal-language.ts');
  const translate = translatorWithoutSite(locale);
  return (text) => print(translate(text));
}

/**
 * Formats the result of a command: a string unchanged, a list of objects as a table, an object as `name: value` lines, undefined as an
 * empty text.
 *
 * @param columns characters in a line. Of a table that is wider, the widest columns are lines below each row. Default: no limit.
 */
export function formatResult(result: unknown, columns = Infinity): string {
  if (result === undefined || result === null) return '';
  if (Array.isArray(result)) return formatList(result, columns);
  if (typeof result === 'object')
    return Object.entries(result)
      .map(([name, value]) => `${name}: ${cell(value)}`)
      .join('\n');
  return cell(result);
}

function formatList(list: readonly unknown[], columns: number): string {
  if (!list.every((row): row is Record<string, unknown> => typeof row === 'object' && row !== null))
    return list.map(cell).join('\n');
  const names = [...new Set(list.flatMap((row) => Object.keys(row)))];
  const widths = new Map(
    names.map((name) => [name, Math.max(name.length, ...list.map((row) => cell(row[name]).length))]),
  );
  const below = findWidest(widths, columns);
  const shown = names.filter((name) => !below.has(name));
  const line = (read: (name: string) => string): string =>
    shown
      .map((name) => read(name).padEnd(widths.get(name) ?? 0))
      .join('  ')
      .trimEnd();
  const lines = list.flatMap((row) => [
    line((name) => cell(row[name])),
    ...names
      .filter((name) => below.has(name) && cell(row[name]) !== '')
      .flatMap((name) => wrap(`${name}: ${cell(row[name])}`, columns)),
  ]);
  return [line((name) => name), ...lines].join('\n');
}

/** The columns without which a table is narrow enough, but never the first one. */
function findWidest(widths: ReadonlyMap<string, number>, columns: number): ReadonlySet<string> {
  const found = new Set<string>();
  const others = [...widths].slice(1).sort(([, one], [, other]) => other - one);
  let width = [...widths.values()].reduce((sum, each) => sum + each + 2, -2);
  for (const [name, own] of others) {
    if (width <= columns) break;
    found.add(name);
    width -= own + 2;
  }
  return found;
}

/** Lines of whole words, indented below their row. */
function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = ' ';
  for (const word of text.split(' ')) {
    if (line.trim() !== '' && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = '   ';
    }
    line += ` ${word}`;
  }
  return [...lines, line];
}

function cell(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
