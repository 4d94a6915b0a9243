import { oneLine } from './formats/text-blocks.ts';

/** One line of a page. */
export interface PdfLine {
  readonly text: string;
  /** Font size in points. */
  readonly size: number;
  /** Distance from the bottom of the page in points. */
  readonly y: number;
  /** From 0. */
  readonly page: number;
}

/** A piece of a page's text, as pdf.js gives it. */
export interface PdfItem {
  readonly str: string;
  /** Scale, skew, position. */
  readonly transform: readonly number[];
  readonly width: number;
  readonly height: number;
  readonly hasEOL: boolean;
}

/** Between two pieces with a wider gap is a space; of a font's size. */
const spaceWidth = 0.15;
/** Alef before the lam of a ligature: a font that has both as one glyph gives them in the wrong order. */
const swappedLigature = /\u0627([\u0622\u0623\u0625])\u0644/g;

/** Font size of what is filled in, in points: too small for a heading. */
const annotationSize = 8;
const headingLevels = 4;
/** Minimum font size of a heading, relative to the text. */
const headingScale = 1.12;
const maxHeadingLength = 160;

/** Joins the pieces of a page, in order, into lines. */
export function joinLines(items: readonly PdfItem[], page: number): PdfLine[] {
  const lines: PdfLine[] = [];
  let text = '';
  let size = 0;
  let y: number | null = null;
  let before: PdfItem | null = null;
  const end = (): void => {
    const trimmed = oneLine(text).replace(swappedLigature, '\u0627\u0644$1');
    if (trimmed !== '') lines.push({ text: trimmed, size: Math.round(size * 2) / 2, y: y ?? 0, page });
    [text, size, y] = ['', 0, null];
  };
  for (const item of items) {
    const { str, transform, height, hasEOL } = item;
    if (before !== null && isDrawnTwice(before, item)) continue;
    const baseline = transform[5] ?? 0;
    const letters = height > 0 ? height : Math.hypot(transform[2] ?? 0, transform[3] ?? 0);
    if (y !== null && str.trim() !== '' && Math.abs(baseline - y) > Math.max(size, letters) * 0.5) end();
    if (str.trim() !== '') {
      y ??= baseline;
      size = Math.max(size, letters);
    }
    if (before !== null && text !== '' && gapBetween(before, item) > letters * spaceWidth) text += ' ';
    text += str;
    if (hasEOL) end();
    if (str.trim() !== '') before = item;
  }
  end();
  return lines;
}

/** Points between two pieces, whichever is on the left; negative where they overlap. */
function gapBetween(before: PdfItem, item: PdfItem): number {
  const [left, right] = [before, item].map(({ transform, width }) => ({
    from: transform[4] ?? 0,
    to: (transform[4] ?? 0) + width,
  }));
  return left && right ? Math.max(right.from - left.to, left.from - right.to) : 0;
}

/** Bold letters are drawn twice, a little apart, where a font has none. */
function isDrawnTwice(before: PdfItem, { str, transform, height }: PdfItem): boolean {
  return (
    str === before.str &&
    str.trim() !== '' &&
    [4, 5].every((at) => Math.abs((transform[at] ?? 0) - (before.transform[at] ?? 0)) < height * 0.1)
  );
}

/** An annotation of a page, as pdf.js gives it. */
export interface PdfAnnotation {
  readonly rect?: readonly number[];
  readonly fieldType?: string;
  readonly fieldValue?: unknown;
  readonly checkBox?: boolean;
  readonly radioButton?: boolean;
  readonly password?: boolean;
  /** Of a list: what is stored and what is shown. */
  readonly options?: readonly { readonly exportValue?: string; readonly displayValue?: string }[];
  readonly hidden?: boolean;
  readonly subtype?: string;
  readonly contentsObj?: { readonly str?: string };
}

/** What is filled into the fields of a form, and texts that were written onto a page. Comments beside a page are left out. */
export function annotationLines(annotations: readonly PdfAnnotation[], page: number): PdfLine[] {
  return annotations.flatMap(
    ({ rect, fieldType, fieldValue, options, checkBox, radioButton, password, hidden, subtype, contentsObj }) => {
      if (hidden === true || password === true || checkBox === true || radioButton === true) return [];
      const written = subtype === 'FreeText' ? contentsObj?.str : undefined;
      const values = fieldType === undefined ? [written] : [fieldValue].flat();
      const shown = values
        .filter((value) => typeof value === 'string')
        .map((value) => options?.find(({ exportValue }) => exportValue === value)?.displayValue ?? value);
      const text = oneLine(shown.join(', '));
      return text === '' ? [] : [{ text, size: annotationSize, y: rect?.[1] ?? 0, page }];
    },
  );
}

/** Joins lines into paragraphs and headings, without the headers and footers that repeat on most pages. */
export function joinParagraphs(lines: readonly PdfLine[], pages: number): string {
  const body = bodySize(lines);
  const own = removeMargins(lines, pages, body);
  const sizes = [...new Set(own.filter((line) => isHeading(line, body)).map(({ size }) => size))].sort(
    (left, right) => right - left,
  );
  const blocks: { level: number; text: string }[] = [];
  let before: PdfLine | null = null;
  for (const line of own) {
    const level = isHeading(line, body) ? Math.min(headingLevels, sizes.indexOf(line.size) + 1) : 0;
    const last = blocks.at(-1);
    if (last !== undefined && before !== null && last.level === level && continues(before, line, level))
      last.text = appendLine(last.text, line.text);
    else blocks.push({ level, text: line.text });
    before = line;
  }
  return blocks.map(({ level, text }) => (level > 0 ? `${'#'.repeat(level)} ${text}` : text)).join('\n\n');
}

function isHeading({ size, text }: PdfLine, body: number): boolean {
  return size >= body * headingScale && text.length <= maxHeadingLength && /\p{L}/u.test(text);
}

/** The most frequent font size. */
function bodySize(lines: readonly PdfLine[]): number {
  const letters = new Map<number, number>();
  for (const { size, text } of lines) letters.set(size, (letters.get(size) ?? 0) + text.length);
  return [...letters].sort((left, right) => right[1] - left[1])[0]?.[0] ?? 0;
}

/** Whether a line continues the previous paragraph. */
function continues(before: PdfLine, line: PdfLine, level: number): boolean {
  if (before.page !== line.page) return level === 0 && !/[.!?:»”"]$/.test(before.text);
  const gap = before.y - line.y;
  return level > 0 ? gap > 0 && gap < line.size * 2 : gap > 0 ? gap < Math.max(before.size, line.size) * 1.75 : true;
}

function appendLine(text: string, next: string): string {
  return /\p{Ll}-$/u.test(text) && /^\p{Ll}/u.test(next) ? text.slice(0, -1) + next : `${text} ${next}`;
}

/** Removes repeated headers and footers, but no headings, because pages may begin with "Chapter 1", "Chapter 2" and so on. */
function removeMargins(lines: readonly PdfLine[], pages: number, body: number): readonly PdfLine[] {
  if (pages < 4) return lines;
  const edges = new Map<string, Set<number>>();
  const outermost = new Set<PdfLine>();
  for (const [at, line] of lines.entries()) {
    if (isHeading(line, body) || (lines[at - 1]?.page === line.page && lines[at + 1]?.page === line.page)) continue;
    outermost.add(line);
    const key = line.text.replace(/\d+/g, '#');
    edges.set(key, (edges.get(key) ?? new Set()).add(line.page));
  }
  const own = lines.filter(
    (line) => !outermost.has(line) || (edges.get(line.text.replace(/\d+/g, '#'))?.size ?? 0) < pages * 0.5,
  );
  // Of pages with hardly more than such lines they are the text.
  return own.length * 2 < lines.length ? lines : own;
}
