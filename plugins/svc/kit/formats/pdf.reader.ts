import { fileURLToPath } from 'node:url';
import { DocumentError, formatNumber, type ReadContext } from '#plugin-api';
import {
  annotationLines,
  joinLines,
  joinParagraphs,
  type PdfAnnotation,
  type PdfItem,
  type PdfLine,
} from '../pdf-text.ts';
import { maxCharacters, oneLine, tooLong } from './text-blocks.ts';

/** The text of a PDF. */
export interface PdfText {
  readonly title: string;
  readonly text: string;
  readonly pages: number;
}

/** Progress in a PDF. */
export interface PageProgress {
  readonly page: number;
  readonly pages: number;
}

const maxPages = 3_000;
/** The character codes of Chinese, Japanese and Korean fonts that are not embedded. */
const cMapUrl = fileURLToPath(new URL('./cmaps/', import.meta.url));
/** Largest share of characters without a meaning. */
const maxUnknown = 0.3;
const unknown = /[\p{Co}\p{Cn}\p{Cs}\ufffd\u0001-\u0008\u000e-\u001f]/gu;

/**
 * Reads a PDF page by page; larger text becomes headings, and headers and footers that repeat are removed.
 *
 * @param bytes empty afterwards
 * @throws DocumentError if it is damaged or has a password, too many pages or too much text
 */
export async function readPdf(bytes: Uint8Array, context: ReadContext): Promise<PdfText> {
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

async function readPages(bytes: Uint8Array, { report }: ReadContext): Promise<PdfText> {
  const { getDocumentProxy } = await import('unpdf');
  const pdf = await getDocumentProxy(bytes, { verbosity: 0, cMapUrl, cMapPacked: true });
  try {
    const { numPages } = pdf;
    if (numPages > maxPages)
      throw new DocumentError(
        `This PDF has ${formatNumber(numPages)} pages. The maximum is ${formatNumber(maxPages)}. Split it.`,
      );
    const lines: PdfLine[] = [];
    let characters = 0;
    let unknowns = 0;
    for (let page = 1; page <= numPages; page += 1) {
      const proxy = await pdf.getPage(page);
      const { items } = await proxy.getTextContent();
      const read = [
        ...joinLines(items.filter((item) => 'str' in item) as readonly PdfItem[], page - 1),
        ...annotationLines((await proxy.getAnnotations()) as readonly PdfAnnotation[], page - 1),
      ];
      proxy.cleanup();
      lines.push(...read);
      for (const { str } of items.filter((item) => 'str' in item)) unknowns += (str.match(unknown) ?? []).length;
      characters += read.reduce((length, { text }) => length + text.length, 0);
      if (characters > maxCharacters) throw tooLong();
      report({ page, pages: numPages } satisfies PageProgress);
    }
    if (unknowns > characters * maxUnknown)
      throw new DocumentError(
        'The text of this PDF cannot be read: its fonts do not say which characters they show. Run text recognition (OCR) on it first.',
      );
    const { info } = (await pdf.getMetadata().catch(() => ({ info: {} }))) as {
      readonly info: { readonly Title?: unknown };
    };
    const title = typeof info.Title === 'string' ? oneLine(info.Title) : '';
    return { title, text: joinParagraphs(lines, numPages), pages: numPages };
  } finally {
    await pdf.loadingTask.destroy();
  }
}
