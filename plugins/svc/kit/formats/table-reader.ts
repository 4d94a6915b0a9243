import { maxCells, oneLine, tooManyCells, type BlockWriter } from './text-blocks.ts';

interface OpenTable {
  readonly rows: Map<number, string>[];
  /** Columns from 0; -1 before the first cell of a row. */
  column: number;
  /** Columns of the current cell. */
  span: number;
  readonly isHidden: boolean;
}

/** Collects the cells of tables as they are read. Tables inside cells become text of the cell. */
export class TableReader {
  private readonly blocks: BlockWriter;
  private readonly tables: OpenTable[] = [];
  private repeated = 0;

  constructor(blocks: BlockWriter) {
    this.blocks = blocks;
  }

  get isOpen(): boolean {
    return this.tables.length > 0;
  }

  /** @param isHidden its text is left out */
  open(isHidden = false): void {
    this.tables.push({ rows: [], column: -1, span: 1, isHidden });
  }

  row(): void {
    const table = this.tables.at(-1);
    table?.rows.push(new Map());
    if (table) [table.column, table.span] = [-1, 1];
  }

  cell(): void {
    const table = this.tables.at(-1);
    if (table === undefined) return;
    table.column += table.column < 0 ? 1 : table.span;
    table.span = 1;
  }

  /** The current cell covers several columns. */
  span(columns: number): void {
    const table = this.tables.at(-1);
    if (table) table.span = Math.min(1_000, Math.max(1, columns || 1));
  }

  /** The current cell continues that above it: its text is repeated, so that each row says what it is about. */
  repeatAbove(): void {
    const table = this.tables.at(-1);
    this.add(table?.rows.at(-2)?.get(table.column) ?? '');
  }

  /** Adds a line to the current cell. */
  add(text: string): void {
    const table = this.tables.at(-1);
    const row = table?.rows.at(-1);
    const line = oneLine(text);
    if (table === undefined || row === undefined || line === '') return;
    const before = row.get(table.column);
    row.set(table.column, before === undefined ? line : `${before} ${line}`);
  }

  /** The current cell is one of several with its text. */
  repeatCell(times: number): void {
    const table = this.tables.at(-1);
    const row = table?.rows.at(-1);
    const text = row?.get(table?.column ?? 0);
    if (table === undefined || row === undefined || !(times > 1)) return;
    if (text === undefined) table.column += times - 1;
    else {
      this.count(times);
      for (let left = times - 1; left > 0; left -= 1) row.set((table.column += 1), text);
    }
  }

  /** The current row is one of several with its cells. */
  repeatRow(times: number): void {
    const rows = this.tables.at(-1)?.rows;
    const row = rows?.at(-1);
    if (rows === undefined || row === undefined || row.size === 0 || !(times > 1)) return;
    this.count(times * row.size);
    for (let left = times - 1; left > 0; left -= 1) rows.push(row);
  }

  /** @param keepsGaps an empty row separates two tables */
  close(keepsGaps = false): void {
    const table = this.tables.pop();
    if (table === undefined || table.isHidden) return;
    const rows = keepsGaps ? table.rows : table.rows.filter(({ size }) => size > 0);
    if (this.tables.length === 0) this.blocks.table(rows);
    else for (const row of rows) this.add([...row.values()].join(', '));
  }

  /** @throws DocumentError for too many repeated cells */
  private count(cells: number): void {
    this.repeated += cells;
    if (this.repeated > maxCells) throw tooManyCells();
  }
}
