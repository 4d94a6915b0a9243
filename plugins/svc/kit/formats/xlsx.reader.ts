import { readDrawings, readRelations, relationId, targetsOf } from './package-parts.reader.ts';
import { BlockWriter, tooLong, tooManyCells, maxCells, maxCharacters, type TableRow } from './text-blocks.ts';
import { formatCell, readCellFormats, type CellFormat } from './cell-formats.reader.ts';
import { readXml, type XmlHandler } from './xml.reader.ts';
import type { ZipEntries } from './zip.reader.ts';

interface Sheet {
  readonly name: string;
  readonly relation: string;
}

/** What the cells of all sheets refer to. */
interface Workbook {
  readonly texts: readonly string[];
  readonly formats: readonly CellFormat[];
  /** Whether days count from 1904. */
  readonly is1904: boolean;
}

/** The text of an Excel file: each sheet is a heading and its tables. Hidden sheets and comments are left out. */
export async function readXlsx(zip: ZipEntries): Promise<string> {
  const [main = 'xl/workbook.xml'] = targetsOf(await readRelations(zip, ''), 'officeDocument');
  const relations = await readRelations(zip, main);
  const sheets: Sheet[] = [];
  let is1904 = false;
  await readXml(zip.read(main), {
    open(name, attributes) {
      const { name: title = '', state = 'visible', date1904 } = attributes;
      if (name === 'workbookPr') is1904 = date1904 === '1' || date1904 === 'true';
      if (name === 'sheet' && state === 'visible') sheets.push({ name: title, relation: relationId(attributes) });
    },
  });
  const texts: string[] = [];
  for (const part of targetsOf(relations, 'sharedStrings')) await readSharedTexts(zip, part, texts);
  const [styles = ''] = targetsOf(relations, 'styles');
  const workbook: Workbook = { texts, formats: await readCellFormats(zip, styles), is1904 };
  const blocks = new BlockWriter();
  for (const { name, relation } of sheets) {
    const part = relations.get(relation)?.target;
    if (part === undefined) continue;
    const sheet = new SheetReader(workbook);
    await readXml(zip.read(part), sheet);
    const drawn = await readDrawings(zip, part, ['drawing']);
    if (sheet.rows.length + drawn.length + sheet.margins.length === 0) continue;
    blocks.heading(1, name);
    blocks.table(sheet.rows);
    for (const line of [...drawn, ...sheet.margins]) blocks.paragraph(line);
  }
  return blocks.toString();
}

async function readSharedTexts(zip: ZipEntries, part: string, texts: string[]): Promise<void> {
  let text = '';
  let isText = false;
  let phonetic = 0;
  let characters = 0;
  await readXml(zip.read(part), {
    open(name) {
      if (name === 'si') text = '';
      if (name === 'rPh') phonetic += 1;
      if (name === 't') isText = phonetic === 0;
    },
    text(piece) {
      if (isText) text += piece;
    },
    close(name) {
      if (name === 't') isText = false;
      if (name === 'rPh') phonetic -= 1;
      if (name !== 'si') return;
      characters += text.length;
      if (characters > maxCharacters) throw tooLong();
      texts.push(text);
    },
  });
}

class SheetReader implements XmlHandler {
  readonly rows: TableRow[] = [];
  /** Texts of the header and the footer. */
  readonly margins: string[] = [];
  private readonly workbook: Workbook;
  private readonly rowsByNumber = new Map<number, Map<number, string>>();
  private row = new Map<number, string>();
  private rowNumber = 0;
  private column = -1;
  private cells = 0;
  private type = '';
  private style = 0;
  private value: string | null = null;
  private isValue = false;

  constructor(workbook: Workbook) {
    this.workbook = workbook;
  }

  open(name: string, { r = '', t = 'n', s = '0', ref = '' }: Readonly<Record<string, string>>): void {
    if (name === 'row') this.beginRow(Number(r) || this.rowNumber + 1);
    else if (name === 'c') {
      const column = columnOf(r);
      this.column = column < 0 ? this.column + 1 : column;
      [this.type, this.style, this.value] = [t, Number(s), null];
    } else if (name === 'v' || name === 't') this.isValue = true;
    else if (name === 'mergeCell') this.repeatBelow(ref);
    else if (/^(?:odd|even|first)(?:Header|Footer)$/.test(name)) [this.isValue, this.value] = [true, null];
  }

  text(piece: string): void {
    if (this.isValue) this.value = (this.value ?? '') + piece;
  }

  close(name: string): void {
    if (name === 'v' || name === 't') this.isValue = false;
    else if (name === 'c') this.endCell();
    else if (name === 'row' && this.row.size > 0) this.rows.push(this.row);
    else if (name.endsWith('Header') || name.endsWith('Footer')) {
      // Codes such as &L for the left, &P for the page and &"Arial" for the font.
      const text = (this.value ?? '').replace(/&(?:"[^"]*"|K[\dA-F]{6}|\d+|[A-Z])/g, ' ').trim();
      if (text !== '' && this.isValue) this.margins.push(text);
      [this.isValue, this.value] = [false, null];
    }
  }

  private beginRow(number: number): void {
    // A row that is left out separates tables.
    if (number > this.rowNumber + 1 && (this.rows.at(-1)?.size ?? 0) > 0) this.rows.push(new Map());
    else if (this.row.size === 0 && (this.rows.at(-1)?.size ?? 0) > 0) this.rows.push(new Map());
    this.rowNumber = number;
    this.row = new Map();
    this.rowsByNumber.set(number, this.row);
    this.column = -1;
  }

  /** A cell that covers several rows says in each what it is about. */
  private repeatBelow(reference: string): void {
    const [, column = '', first = '', last = ''] = /^([A-Z]+)(\d+):[A-Z]+(\d+)$/.exec(reference) ?? [];
    const at = columnOf(column);
    const text = this.rowsByNumber.get(Number(first))?.get(at);
    if (text === undefined) return;
    for (const [number, row] of this.rowsByNumber)
      if (number > Number(first) && number <= Number(last) && row.size > 0) row.set(at, text);
  }

  private endCell(): void {
    const { value, type, workbook } = this;
    if (value === null || value === '') return;
    this.cells += 1;
    if (this.cells > maxCells) throw tooManyCells();
    const text =
      type === 's'
        ? (workbook.texts[Number(value)] ?? '')
        : type === 'b'
          ? value === '1'
            ? 'TRUE'
            : 'FALSE'
          : type === 'n'
            ? formatCell(value, workbook.formats[this.style] ?? 'number', workbook.is1904)
            : value;
    if (text.trim() !== '') this.row.set(this.column, text);
  }
}

/** `AB12` -> 27; -1 without letters. */
function columnOf(reference: string): number {
  let column = 0;
  for (const letter of reference) {
    const code = letter.charCodeAt(0) - 64;
    if (code < 1 || code > 26) break;
    column = column * 26 + code;
  }
  return column - 1;
}
