import { pageText } from './page-text.ts';
import { joinLines, joinParagraphs, type PdfItem, type PdfLine } from './pdf-text.ts';

export interface DocumentText {
  /** One line; empty: it tells none. */
  readonly title: string;
  /** Plain text or Markdown; headings begin with `#` to `######`. */
  readonly text: string;
  /** Of a PDF. */
  readonly pages: number | null;
}

export interface DocumentFile {
  /** Its ending tells what it is. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface ReadDocumentInit {
  readonly signal?: AbortSignal | undefined;
  /** Called after each page of a PDF. */
  readonly onPage?: ((page: number, pages: number) => void) | undefined;
}

/** A file whose text cannot be had; the message says why and what to do. */
export class DocumentError extends Error {}

/** Endings of files that can be read, for `accept` of a field. */
export const documentEndings = ['.txt', '.md', '.html', '.pdf'] as const;

const kinds: Readonly<Record<string, 'text' | 'html' | 'pdf'>> = {
  txt: 'text',
  text: 'text',
  md: 'text',
  markdown: 'text',
  html: 'html',
  htm: 'html',
  pdf: 'pdf',
};
const mostPages = 3_000;
/** Characters that a file may come to: a small PDF can hold endless ones. */
const mostCharacters = 20_000_000;

/**
 * The text of a file: txt, md, html or pdf, by its ending; nothing of it is run. A PDF is read page by page, with the
 * headings that its larger letters make and without what stands at the head or foot of every page.
 *
 * @throws DocumentError for another ending, a file that is not what it says, is locked, too long, or holds no text
 */
export async function readDocument({ name, bytes }: DocumentFile, init: ReadDocumentInit = {}): Promise<DocumentText> {
  const ending = /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  const kind = Object.hasOwn(kinds, ending) ? kinds[ending] : undefined;
  if (kind === undefined)
    throw new DocumentError(`Files that end in ${documentEndings.join(', ')} can be read. Save it as one of these.`);
  const document = kind === 'pdf' ? await readPdf(bytes, init) : readText(bytes, kind);
  if (document.text.trim() === '') {
    throw new DocumentError(
      kind === 'pdf'
        ? 'This PDF holds no text, only pictures of it. Run it through a text recognition (OCR) first.'
        : 'This file holds no text.',
    );
  }
  return document;
}

function readText(bytes: Uint8Array, kind: 'text' | 'html'): DocumentText {
  if (bytes.subarray(0, 1_000).includes(0) && !isUtf16(bytes))
    throw new DocumentError('This is no text: it holds binary data.');
  const text = decoded(bytes, kind);
  if (text.length > mostCharacters) throw tooLong();
  if (kind === 'html') return { ...pageText(text), pages: null };
  const plain = text.replaceAll(/\r\n?/g, '\n');
  return { title: /^#\s+(.+)$/m.exec(plain)?.[1]?.trim() ?? '', text: plain, pages: null };
}

function isUtf16(bytes: Uint8Array): boolean {
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
}

/** UTF-16 and UTF-8 by their marks, what HTML says of itself, UTF-8 where it is valid, else the letters of Western Europe. */
function decoded(bytes: Uint8Array, kind: 'text' | 'html'): string {
  if (isUtf16(bytes)) return new TextDecoder(bytes[0] === 0xff ? 'utf-16le' : 'utf-16be').decode(bytes);
  const said =
    kind === 'html'
      ? /<meta[^>]+charset\s*=\s*["']?([\w-]+)/i.exec(Buffer.from(bytes.subarray(0, 2_048)).toString('latin1'))?.[1]
      : undefined;
  for (const encoding of said === undefined ? ['utf-8'] : [said, 'utf-8']) {
    try {
      return new TextDecoder(encoding, { fatal: true }).decode(bytes);
    } catch {
      // Not in this encoding, or there is none of that name.
    }
  }
  return new TextDecoder('windows-1252').decode(bytes);
}

async function readPdf(bytes: Uint8Array, { signal, onPage }: ReadDocumentInit): Promise<DocumentText> {
  if (!Buffer.from(bytes.subarray(0, 1_024)).includes('%PDF-'))
    throw new DocumentError('This is no PDF, though its name says so.');
  const { getDocumentProxy } = await import('unpdf');
  // pdf.js takes the bytes it is given away from their owner.
  const pdf = await getDocumentProxy(Uint8Array.from(bytes), { isEvalSupported: false, verbosity: 0 }).catch(
    (error: unknown) => {
      throw new DocumentError(
        /password/i.test(String(error))
          ? 'This PDF is locked with a password. Save it without one.'
          : 'This PDF is damaged and cannot be read. Save it anew.',
      );
    },
  );
  try {
    if (pdf.numPages > mostPages)
      throw new DocumentError(
        `A PDF may have ${String(mostPages)} pages; this one has ${String(pdf.numPages)}. Split it.`,
      );
    const lines: PdfLine[] = [];
    let characters = 0;
    for (let page = 1; page <= pdf.numPages; page += 1) {
      signal?.throwIfAborted();
      const proxy = await pdf.getPage(page);
      const { items } = await proxy.getTextContent();
      const read = joinLines(items.filter((item) => 'str' in item) as readonly PdfItem[], page - 1);
      proxy.cleanup();
      lines.push(...read);
      characters += read.reduce((length, { text }) => length + text.length, 0);
      if (characters > mostCharacters) throw tooLong();
      onPage?.(page, pdf.numPages);
    }
    const { info } = (await pdf.getMetadata().catch(() => ({ info: {} }))) as {
      readonly info: { readonly Title?: unknown };
    };
    const title = typeof info.Title === 'string' ? info.Title.replace(/\s+/g, ' ').trim() : '';
    return { title, text: joinParagraphs(lines, pdf.numPages), pages: pdf.numPages };
  } finally {
    await pdf.destroy();
  }
}

function tooLong(): DocumentError {
  return new DocumentError('This file holds more than 20 million characters. Split it.');
}
