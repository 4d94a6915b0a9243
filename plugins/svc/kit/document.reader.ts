import { DocumentError, formatNumber, type ReadContext } from '#plugin-api';
import { charsetOf } from './decode-text.ts';
import { documentEndings } from './documents.ts';
import { parsePageText } from './page-text.reader.ts';
import { declaredInHtml, readUnnamedText } from './unnamed-text.reader.ts';
import {
  annotationLines,
  joinLines,
  joinParagraphs,
  type PdfAnnotation,
  type PdfItem,
  type PdfLine,
} from './pdf-text.ts';

export interface DocumentText {
  /** One line; '' without a title. */
  readonly title: string;
  /** Plain text or Markdown; headings begin with `#` to `######`. */
  readonly text: string;
  /** Null if the file is not a PDF. */
  readonly pages: number | null;
}

export interface DocumentFile {
  /** Its extension determines the format. */
  readonly name: string;
  /** Empty after a PDF was read. */
  readonly bytes: Uint8Array;
  /** Header `Content-Type` of the response it came with, which may name its encoding. */
  readonly contentType?: string | undefined;
  /** Characters of the text to return. Default: all. */
  readonly longest?: number | undefined;
}

/** Progress in a PDF. */
export interface PageProgress {
  readonly page: number;
  readonly pages: number;
}

const kinds: Readonly<Record<string, 'text' | 'html' | 'pdf'>> = {
  txt: 'text',
  text: 'text',
  md: 'text',
  markdown: 'text',
  html: 'html',
  htm: 'html',
  pdf: 'pdf',
};
const withoutText = {
  text: 'This file contains no text. Choose another one.',
  html: 'This page contains no text. Pages that need JavaScript cannot be read.',
  pdf: 'No text was found in this PDF. If its pages are images, run text recognition (OCR) on it first.',
} as const;
const maxPages = 3_000;
/** Maximum length of the text. A small PDF can expand to a huge one. */
const maxCharacters = 20_000_000;

/**
 * Reads the text of a file: txt, md, html or pdf, by its extension. Nothing in it is run. A PDF is read page by page; larger
 * text becomes headings, and headers and footers that repeat are removed.
 *
 * @throws DocumentError for another extension, or a file with another format, a password, too much text or no text
 */
export async function parseDocument(file: DocumentFile, context: ReadContext): Promise<DocumentText> {
  const { name, longest } = file;
  const ending = /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  const kind = Object.hasOwn(kinds, ending) ? kinds[ending] : undefined;
  if (kind === undefined)
    throw new DocumentError(`This type of file is not supported. Save it as one of ${documentEndings.join(', ')}.`);
  const document = kind === 'pdf' ? await readPdf(file.bytes, context) : await readText(file, kind);
  if (document.text.trim() === '') {
    throw new DocumentError(withoutText[kind]);
  }
  return { ...document, text: document.text.slice(0, longest) };
}

async function readText({ bytes, contentType }: DocumentFile, kind: 'text' | 'html'): Promise<DocumentText> {
  const text = await readUnnamedText(bytes, {
    charset: charsetOf(contentType),
    declared: (head) => (kind === 'html' ? declaredInHtml(head) : undefined),
  });
  if (text.slice(0, 1_000).includes('\0'))
    throw new DocumentError('This file contains binary data, not text. Choose another one.');
  if (text.length > maxCharacters) throw tooLong();
  if (kind === 'html') return { ...parsePageText({ html: text }), pages: null };
  const plain = text.replaceAll(/\r\n?/g, '\n');
  return { title: /^#\s+(\S.*)$/m.exec(plain)?.[1]?.trim() ?? '', text: plain, pages: null };
}

/** pdf.js inflates a stream without a limit, so that a small file could take all memory. */
const maxStreamBytes = 32 * 1_048_576;

async function readPdf(bytes: Uint8Array, context: ReadContext): Promise<DocumentText> {
  if (!Buffer.from(bytes.subarray(0, 1_024)).includes('%PDF-'))
    throw new DocumentError('This file is not a PDF. Check its extension.');
  const allocations = limitAllocations(maxStreamBytes);
  try {
    const document = await readPages(bytes, context);
    // pdf.js continues with a part of a page where it can.
    if (allocations.isExceeded()) throw tooMuchData();
    return document;
  } catch (error) {
    if (error instanceof DocumentError) throw error;
    if (allocations.isExceeded()) throw tooMuchData();
    throw new DocumentError(
      /password/i.test(String(error))
        ? 'This PDF has a password. Save it without one.'
        : 'This PDF is damaged and cannot be read. Export it again.',
    );
  } finally {
    allocations.restore();
  }
}

function tooMuchData(): DocumentError {
  return new DocumentError('This PDF contains too much data on a page. Split it or export it again.', 'too_large');
}

async function readPages(bytes: Uint8Array, { report }: ReadContext): Promise<DocumentText> {
  const { getDocumentProxy } = await import('unpdf');
  const pdf = await getDocumentProxy(bytes, { verbosity: 0 });
  try {
    const { numPages } = pdf;
    if (numPages > maxPages)
      throw new DocumentError(
        `This PDF has ${formatNumber(numPages)} pages. The maximum is ${formatNumber(maxPages)}. Split it.`,
      );
    const lines: PdfLine[] = [];
    let characters = 0;
    for (let page = 1; page <= numPages; page += 1) {
      const proxy = await pdf.getPage(page);
      const { items } = await proxy.getTextContent();
      const read = [
        ...joinLines(items.filter((item) => 'str' in item) as readonly PdfItem[], page - 1),
        ...annotationLines((await proxy.getAnnotations()) as readonly PdfAnnotation[], page - 1),
      ];
      proxy.cleanup();
      lines.push(...read);
      characters += read.reduce((length, { text }) => length + text.length, 0);
      if (characters > maxCharacters) throw tooLong();
      report({ page, pages: numPages } satisfies PageProgress);
    }
    const { info } = (await pdf.getMetadata().catch(() => ({ info: {} }))) as {
      readonly info: { readonly Title?: unknown };
    };
    const title = typeof info.Title === 'string' ? info.Title.replace(/\s+/g, ' ').trim() : '';
    return { title, text: joinParagraphs(lines, numPages), pages: numPages };
  } finally {
    await pdf.loadingTask.destroy();
  }
}

function tooLong(): DocumentError {
  return new DocumentError('This file contains more than 20 million characters. Split it.');
}

interface AllocationLimit {
  isExceeded(): boolean;
  restore(): void;
}

/**
 * Makes the constructor `Uint8Array` of this thread refuse larger arrays, for parsers that offer no limit: what they inflate is outside
 * the heap, where the thread's limit of memory does not count it. Also hides `DecompressionStream`, which inflates elsewhere; parsers
 * then use their own code.
 *
 * @param most bytes of one array
 */
function limitAllocations(most: number): AllocationLimit {
  const { Uint8Array: original, DecompressionStream: decompression } = globalThis;
  let isExceeded = false;
  globalThis.Uint8Array = new Proxy(original, {
    construct(target, given: readonly unknown[], created) {
      if (typeof given[0] === 'number' && given[0] > most) {
        isExceeded = true;
        throw new RangeError(`An array of ${String(given[0])} bytes exceeds the limit of ${String(most)}.`);
      }
      return Reflect.construct(target, given, created) as Uint8Array;
    },
  });
  Reflect.set(globalThis, 'DecompressionStream', undefined);
  return {
    isExceeded: () => isExceeded,
    restore() {
      globalThis.Uint8Array = original;
      Reflect.set(globalThis, 'DecompressionStream', decompression);
    },
  };
}
