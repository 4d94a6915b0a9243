import { DocumentError } from '#plugin-api';

/** A heading, an item of a list, or a paragraph. */
export interface TextBlock {
  /** `#` to `######`, `- ` or nothing. */
  readonly mark: string;
  readonly text: string;
}

/** Maximum length of a text. A small file can expand to a huge one. */
export const maxCharacters = 20_000_000;
/** Maximum cells of the tables of a file. */
export const maxCells = 1_000_000;
const headingLevels = 6;

/** Joins blocks with an empty line, and items of a list with a line break. */
export function joinBlocks(blocks: readonly TextBlock[]): string {
  let text = '';
  let before: TextBlock | null = null;
  for (const block of blocks) {
    if (before !== null) text += before.mark === '- ' && block.mark === '- ' ? '\n' : '\n\n';
    text += block.mark + block.text;
    before = block;
  }
  return text;
}

/** The cells of a row that are not empty, by column from 0. */
export type TableRow = ReadonlyMap<number, string>;

/** Collects the blocks of a file in their order. Its methods throw DocumentError when the text or its tables grow too large. */
export class BlockWriter {
  private readonly blocks: TextBlock[] = [];
  private characters = 0;
  private cells = 0;
  private cellCharacters = 0;

  heading(level: number, text: string): void {
    this.add('#'.repeat(Math.min(headingLevels, Math.max(1, level))) + ' ', oneLine(text));
  }

  item(text: string): void {
    this.add('- ', oneLine(text));
  }

  /** White space is one space, but for line breaks. */
  paragraph(text: string): void {
    this.add('', trimLines(text));
  }

  /** A text that is laid out by its spaces. */
  plain(text: string): void {
    this.add('', text);
  }

  /** Columns without a cell are left out. A row without one ends a table, whose first rows of one cell are paragraphs. */
  table(rows: Iterable<TableRow>): void {
    let some: TableRow[] = [];
    const end = (): void => {
      const columns = [...new Set(some.flatMap((row) => [...row.keys()]))].sort((one, other) => one - other);
      const start = columns.length < 2 ? some.length : some.findIndex((row) => row.size > 1);
      for (const row of some.slice(0, start)) for (const text of row.values()) this.paragraph(text);
      if (start < some.length) this.add('', markdownTable(some.slice(start), columns));
      some = [];
    };
    for (const row of rows) {
      this.cells += row.size;
      if (this.cells > maxCells) throw tooManyCells();
      // Before they are joined: many cells may share one long text.
      for (const text of row.values()) this.cellCharacters += text.length;
      if (this.cellCharacters > maxCharacters) throw tooLong();
      if (row.size === 0) end();
      else some.push(row);
    }
    end();
  }

  /** Whether nothing was added. */
  get isEmpty(): boolean {
    return this.blocks.length === 0;
  }

  toString(): string {
    return joinBlocks(this.blocks);
  }

  private add(mark: string, text: string): void {
    if (text.trim() === '') return;
    this.characters += text.length;
    if (this.characters > maxCharacters) throw tooLong();
    this.blocks.push({ mark, text });
  }
}

/** A table in Markdown with its first row as the head. @param rows with two columns or more that have cells */
function markdownTable(rows: readonly TableRow[], columns: readonly number[]): string {
  const positions = new Map(columns.map((column, at) => [column, at]));
  const sorted = rows.map((row) =>
    [...row]
      .map(([column, text]) => ({ at: positions.get(column) ?? 0, text }))
      .sort((one, other) => one.at - other.at),
  );
  // Cells that are scattered far apart would make more gaps than text.
  const cells = sorted.reduce((sum, row) => sum + row.length, 0);
  const isScattered = sorted.reduce((sum, row) => sum + (row.at(-1)?.at ?? 0), 0) > cells * 5 + 1_000;
  const lines = sorted.map((row) => {
    let line = '|';
    let next = 0;
    for (const { at, text } of row) {
      if (!isScattered) line += '  |'.repeat(at - next);
      line += ` ${oneLine(text).replaceAll('|', '\\|')} |`;
      next = at + 1;
    }
    return line;
  });
  const [head = '', ...body] = lines;
  return [head, `|${' --- |'.repeat(isScattered ? 1 : columns.length)}`, ...body].join('\n');
}

export const oneLine = (text: string): string => text.replace(/[\s\u0000-\u001f\u007f]+/g, ' ').trim();

function trimLines(text: string): string {
  return text
    .split('\n')
    .map(oneLine)
    .filter((line) => line !== '')
    .join('\n');
}

export function tooLong(): DocumentError {
  return new DocumentError('This file contains more than 20 million characters. Split it.');
}

export function tooManyCells(): DocumentError {
  return new DocumentError('The tables of this file have more than 1,000,000 cells. Split it.');
}

export function damaged(): DocumentError {
  return new DocumentError('This file is damaged and cannot be read. Save it again.');
}
