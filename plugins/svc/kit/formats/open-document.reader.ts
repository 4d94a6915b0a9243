import { TableReader } from './table-reader.ts';
import { BlockWriter } from './text-blocks.ts';
import { readXml, type XmlAttributes, type XmlHandler } from './xml.reader.ts';
import { withPassword, type ZipEntries } from './zip.reader.ts';

/** Deleted texts, comments, forms, scripts, and numbers of notes. */
const unread = new Set(['tracked-changes', 'annotation', 'forms', 'scripts', 'note-citation', 'ruby-text', 'desc']);

/**
 * The text of an OpenDocument file (odt, ods, odp): headings, lists and tables; each sheet and each slide has a heading. Below it
 * headers and footers. Tracked deletions, hidden sheets and comments are left out.
 *
 * @throws DocumentError if it has a password
 */
export async function readOpenDocument(zip: ZipEntries): Promise<string> {
  await readXml(zip.read('META-INF/manifest.xml'), {
    open(name) {
      if (name === 'encryption-data') throw withPassword();
    },
  });
  const blocks = new BlockWriter();
  await readXml(zip.read('content.xml'), new OpenDocumentPart(blocks, 'body'));
  await readXml(zip.read('styles.xml'), new OpenDocumentPart(blocks, 'master-styles'));
  return blocks.toString();
}

class OpenDocumentPart implements XmlHandler {
  private readonly blocks: BlockWriter;
  private readonly tables: TableReader;
  /** The element whose content is read. */
  private readonly root: string;
  private isInside = false;
  private isSpreadsheet = false;
  private skipped = 0;
  /** Text boxes and notes have paragraphs inside a paragraph. Level 0: no heading. */
  private readonly paragraphs: { text: string; readonly level: number }[] = [];
  private items = 0;
  /** Frames around the current element: whether each is the title of its slide. */
  private readonly frames: boolean[] = [];
  private slide = 0;
  private isSlideNamed = true;
  /** How often the open cells and rows are repeated. */
  private readonly repeats: number[] = [];
  private readonly hiddenStyles = new Set<string>();
  private style = '';

  constructor(blocks: BlockWriter, root: string) {
    this.blocks = blocks;
    this.root = root;
    this.tables = new TableReader(blocks);
  }

  open(name: string, attributes: XmlAttributes): void {
    if (name === 'style') this.style = attributes['name'] ?? '';
    if (name === 'table-properties' && attributes['display'] === 'false') this.hiddenStyles.add(this.style);
    if (name === this.root) this.isInside = true;
    if (unread.has(name)) this.skipped += 1;
    if (!this.isInside || this.skipped > 0) return;
    if (name === 'p' || name === 'h')
      this.paragraphs.push({ text: '', level: name === 'h' ? Number(attributes['outline-level'] ?? 1) : 0 });
    else if (name === 'list-item') this.items += 1;
    else if (name === 'spreadsheet') this.isSpreadsheet = true;
    else if (name === 'page') {
      this.slide += 1;
      this.isSlideNamed = false;
    } else if (name === 'frame' || name === 'custom-shape') this.frames.push(attributes['class'] === 'title');
    else if (name === 's' || name === 'tab') this.append(' ');
    else if (name === 'line-break') this.append('\n');
    else this.openTable(name, attributes);
  }

  text(piece: string): void {
    if (this.skipped === 0) this.append(piece);
  }

  close(name: string): void {
    if (unread.has(name)) this.skipped -= 1;
    if (!this.isInside || this.skipped > 0) return;
    if (name === this.root) this.isInside = false;
    else if (name === 'p' || name === 'h') this.endParagraph();
    else if (name === 'list-item') this.items -= 1;
    else if (name === 'frame' || name === 'custom-shape') this.frames.pop();
    else if (name === 'table') this.tables.close(this.isSpreadsheet);
    else if (name === 'table-row') this.tables.repeatRow(this.repeats.pop() ?? 1);
    else if (name === 'table-cell' || name === 'covered-table-cell') this.tables.repeatCell(this.repeats.pop() ?? 1);
  }

  private openTable(name: string, attributes: XmlAttributes): void {
    if (name === 'table') {
      const isHidden = this.hiddenStyles.has(attributes['style-name'] ?? '');
      if (this.isSpreadsheet && !this.tables.isOpen && !isHidden) this.blocks.heading(1, attributes['name'] ?? '');
      this.tables.open(isHidden);
    } else if (name === 'table-row') {
      this.repeats.push(Number(attributes['number-rows-repeated'] ?? 1));
      this.tables.row();
    } else if (name === 'table-cell' || name === 'covered-table-cell') {
      this.repeats.push(Number(attributes['number-columns-repeated'] ?? 1));
      this.tables.cell();
    }
  }

  private append(text: string): void {
    const paragraph = this.paragraphs.at(-1);
    if (paragraph !== undefined) paragraph.text += text;
  }

  private endParagraph(): void {
    const { text = '', level = 0 } = this.paragraphs.pop() ?? {};
    if (text.trim() === '') return;
    if (this.tables.isOpen) this.tables.add(text);
    else if (this.frames.at(-1) === true && !this.isSlideNamed) this.nameSlide(text);
    else {
      this.nameSlide('');
      if (level > 0) this.blocks.heading(level, text);
      else if (this.items > 0) this.blocks.item(text);
      else this.blocks.paragraph(text);
    }
  }

  private nameSlide(title: string): void {
    if (this.isSlideNamed) return;
    this.isSlideNamed = true;
    this.blocks.heading(1, title === '' ? `Slide ${String(this.slide)}` : `Slide ${String(this.slide)}: ${title}`);
  }
}
