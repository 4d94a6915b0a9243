import { readDrawings, readRelations, relationId, targetsOf } from './package-parts.reader.ts';
import { TableReader } from './table-reader.ts';
import { BlockWriter, oneLine } from './text-blocks.ts';
import { readXml, type XmlAttributes, type XmlHandler } from './xml.reader.ts';
import type { ZipEntries } from './zip.reader.ts';

/** Placeholders with what repeats on every slide. */
const repeated = new Set(['dt', 'ftr', 'hdr', 'sldNum', 'sldImg']);

/**
 * The text of a presentation: each slide is a heading with its number and title, then its texts, tables, charts and notes. Hidden
 * slides and comments are left out.
 */
export async function readPptx(zip: ZipEntries): Promise<string> {
  const [main = 'ppt/presentation.xml'] = targetsOf(await readRelations(zip, ''), 'officeDocument');
  const relations = await readRelations(zip, main);
  const slides: string[] = [];
  await readXml(zip.read(main), {
    open(name, attributes) {
      const part = name === 'sldId' ? relations.get(relationId(attributes))?.target : undefined;
      if (part !== undefined) slides.push(part);
    },
  });
  const blocks = new BlockWriter();
  for (const [at, part] of slides.entries()) await readSlide(zip, part, { blocks, number: at + 1 });
  return blocks.toString();
}

interface SlideInit {
  readonly blocks: BlockWriter;
  /** From 1. */
  readonly number: number;
}

async function readSlide(zip: ZipEntries, part: string, { blocks, number }: SlideInit): Promise<void> {
  const title = new SlidePart(null);
  await readXml(zip.read(part), title);
  if (title.isHidden) return;
  const name = oneLine(title.titles.join(' '));
  blocks.heading(1, name === '' ? `Slide ${String(number)}` : `Slide ${String(number)}: ${name}`);
  await readXml(zip.read(part), new SlidePart(blocks));
  const relations = await readRelations(zip, part);
  for (const line of await readDrawings(zip, part)) blocks.paragraph(line);
  for (const notes of targetsOf(relations, 'notesSlide')) await readXml(zip.read(notes), new SlidePart(blocks));
}

class SlidePart implements XmlHandler {
  isHidden = false;
  readonly titles: string[] = [];
  private readonly blocks: BlockWriter | null;
  private readonly tables: TableReader;
  private placeholder = '';
  private paragraph = '';
  private isText = false;
  private skipped = 0;

  /** @param blocks null: only the title is read */
  constructor(blocks: BlockWriter | null) {
    this.blocks = blocks;
    this.tables = new TableReader(blocks ?? new BlockWriter());
  }

  open(name: string, attributes: XmlAttributes): void {
    const { type = 'body', show, gridSpan, hMerge, vMerge } = attributes;
    if (name === 'sld') this.isHidden = show === '0' || show === 'false';
    else if (name === 'Fallback') this.skipped += 1;
    else if (name === 'sp' || name === 'graphicFrame') this.placeholder = '';
    else if (name === 'ph') this.placeholder = type;
    else if (name === 'cNvPr') this.blocks?.paragraph(attributes['descr'] ?? '');
    else if (name === 'tbl') this.tables.open();
    else if (name === 'tr') this.tables.row();
    else if (name === 'tc') {
      if (hMerge === '1' || hMerge === 'true') return;
      this.tables.cell();
      if (gridSpan !== undefined) this.tables.span(Number(gridSpan));
      if (vMerge === '1' || vMerge === 'true') this.tables.repeatAbove();
    } else if (name === 'p') this.paragraph = '';
    else if (name === 't') this.isText = true;
    else if (name === 'br') this.paragraph += '\n';
  }

  text(piece: string): void {
    if (this.isText && this.skipped === 0) this.paragraph += piece;
  }

  close(name: string): void {
    if (name === 't') this.isText = false;
    else if (name === 'Fallback') this.skipped -= 1;
    else if (name === 'tbl') this.tables.close();
    else if (name === 'p') this.endParagraph();
  }

  private endParagraph(): void {
    const isTitle = this.placeholder === 'title' || this.placeholder === 'ctrTitle';
    if (isTitle) this.titles.push(this.paragraph);
    else if (this.tables.isOpen) this.tables.add(this.paragraph);
    else if (!repeated.has(this.placeholder)) this.blocks?.paragraph(this.paragraph);
    this.paragraph = '';
  }
}
