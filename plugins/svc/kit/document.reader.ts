import { DocumentError, formatNumber, type ReadContext } from '#plugin-api';
import { charsetOf } from './decode-text.ts';
import { documentEndings } from './documents.ts';
import { readArticle } from './article.reader.ts';
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
  if (kind === 'html') return { ...(await readArticle(text)), pages: null };
  const plain = text.replaceAll(/\r\n?/g, '\n');
  return { title: /^#\s+(\S.*)$/m.exec(plain)?.[1]?.trim() ?? '', text: plain, pages: null };
}

async function readPdf(bytes: Uint8Array, context: ReadContext): Promise<DocumentText> {
  if (!Buffer.from(bytes.subarray(0, 1_024)).includes('%PDF-'))
    throw new DocumentError('This file is not a PDF. Check its extension.');
  try {
    return await readPages(bytes, context);
  } catch (error) {
    if (error instanceof DocumentError) throw error;
    throw new DocumentError(
      /password/i.test(String(error))
        ? 'This PDF has a password. Save it without one.'
        : 'This PDF is damaged and cannot be read. Export it again.',
    );
  }
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
