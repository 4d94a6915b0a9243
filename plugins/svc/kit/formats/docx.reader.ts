import { Numbering } from './numbering.reader.ts';
import { isOn, readDrawings, readRelations, targetsOf } from './package-parts.reader.ts';
import { readStyles, type Style } from './docx-styles.reader.ts';
import { BlockWriter } from './text-blocks.ts';
import { TableReader } from './table-reader.ts';
import { readXml, type XmlAttributes, type XmlHandler } from './xml.reader.ts';
import type { ZipEntries } from './zip.reader.ts';

/** Elements whose text is not shown: deleted text, codes of fields, copies of drawings for old programs. */
const unread = new Set(['del', 'moveFrom', 'instrText', 'delText', 'Fallback', 'tabs', 'rubyPr', 'rt']);

/**
 * The text of a Word file: headings and lists with their numbers, tables, text boxes, foot- and endnotes, charts, then headers and
 * footers. Tracked deletions, hidden text and comments are left out.
 */
export async function readDocx(zip: ZipEntries): Promise<string> {
  const [main = 'word/document.xml'] = targetsOf(await readRelations(zip, ''), 'officeDocument');
  const relations = await readRelations(zip, main);
  const blocks = new BlockWriter();
  const numbering = new Numbering();
  for (const part of targetsOf(relations, 'numbering')) await numbering.read(zip, part);
  const styles = await readStyles(zip, targetsOf(relations, 'styles'));
  const read = (part: string): Promise<void> => readXml(zip.read(part), new DocxPart({ blocks, styles, numbering }));
  await read(main);
  for (const type of ['footnotes', 'endnotes']) for (const part of targetsOf(relations, type)) await read(part);
  for (const line of await readDrawings(zip, main)) blocks.paragraph(line);
  for (const type of ['header', 'footer']) for (const part of targetsOf(relations, type)) await read(part);
  return blocks.toString();
}

interface Paragraph {
  text: string;
  heading: number;
  list: string;
  level: number;
}

interface DocxContext {
  readonly blocks: BlockWriter;
  readonly styles: ReadonlyMap<string, Style>;
  readonly numbering: Numbering;
}

class DocxPart implements XmlHandler {
  private readonly context: DocxContext;
  private readonly tables: TableReader;
  /** A text box has paragraphs inside a paragraph. */
  private readonly paragraphs: Paragraph[] = [];
  private skipped = 0;
  private isText = false;
  private isHidden = false;
  private isRun = false;

  constructor(context: DocxContext) {
    this.context = context;
    this.tables = new TableReader(context.blocks);
  }

  open(name: string, attributes: XmlAttributes): void {
    if (unread.has(name)) this.skipped += 1;
    if (this.skipped > 0) return;
    const { val = '' } = attributes;
    const paragraph = this.paragraphs.at(-1);
    if (name === 'p') this.paragraphs.push({ text: '', heading: 0, list: '', level: 0 });
    else if (name === 'tbl') this.tables.open();
    else if (name === 'tr') this.tables.row();
    else if (name === 'tc') this.tables.cell();
    else if (name === 'gridSpan') this.tables.span(Number(val));
    else if (name === 'vMerge' && val !== 'restart') this.tables.repeatAbove();
    else if (name === 'r') [this.isRun, this.isHidden] = [true, false];
    else if (name === 'vanish' && this.isRun) this.isHidden = isOn(attributes);
    else if (name === 't') this.isText = true;
    else if (paragraph === undefined) return;
    else if (name === 'pStyle') {
      const { heading = 0, list = '', level = 0 } = this.context.styles.get(val) ?? {};
      Object.assign(paragraph, { heading, list, level });
    } else if (name === 'outlineLvl') paragraph.heading ||= Number(val) < 9 ? Number(val) + 1 : 0;
    else if (name === 'numId') paragraph.list = val === '0' ? '' : val;
    else if (name === 'ilvl') paragraph.level = Number(val);
    else if (name === 'docPr') paragraph.text += ` ${attributes['descr'] ?? ''} `;
    else if (name === 'br' || name === 'cr') paragraph.text += '\n';
    else if (name === 'tab') paragraph.text += ' ';
    else if (name === 'noBreakHyphen') paragraph.text += '-';
  }

  text(piece: string): void {
    const paragraph = this.paragraphs.at(-1);
    if (this.isText && !this.isHidden && this.skipped === 0 && paragraph) paragraph.text += piece;
  }

  close(name: string): void {
    if (unread.has(name)) this.skipped -= 1;
    if (this.skipped > 0) return;
    if (name === 't') this.isText = false;
    else if (name === 'r') [this.isRun, this.isHidden] = [false, false];
    else if (name === 'p') this.end(this.paragraphs.pop());
    else if (name === 'tbl') this.tables.close();
  }

  private end(paragraph: Paragraph | undefined): void {
    if (paragraph === undefined) return;
    const { text, heading, list } = paragraph;
    if (text.trim() === '') return;
    const number = list === '' ? '' : this.context.numbering.next(paragraph);
    const numbered = number === '' ? text : `${number} ${text}`;
    if (this.tables.isOpen) this.tables.add(numbered);
    else if (heading > 0) this.context.blocks.heading(heading, numbered);
    else if (list === '') this.context.blocks.paragraph(text);
    else this.context.blocks.item(numbered);
  }
}
