import { DocumentError, storableText, type ReadContext } from '#plugin-api';
import { readArticle } from './article.reader.ts';
import { parseCsv } from './csv.reader.ts';
import { charsetOf } from './decode-text.ts';
import { documentEndings, kindOfName, type DocumentKind } from './document-kinds.ts';
import { readMessage } from './formats/eml.reader.ts';
import { readJson } from './formats/json-text.ts';
import { readPdf } from './formats/pdf.reader.ts';
import { isRtf, readRtf } from './formats/rtf.reader.ts';
import { readSubtitles } from './formats/subtitles.ts';
import { BlockWriter, maxCharacters, tooLong } from './formats/text-blocks.ts';
import { isCompound, isZip, withPassword } from './formats/zip.reader.ts';
import { readZipped } from './formats/zipped.reader.ts';
import { declaredInHtml, readUnnamedText } from './unnamed-text.reader.ts';

export interface DocumentText {
  /** One line; '' without a title. */
  readonly title: string;
  /** Plain text or Markdown; headings begin with `#` to `######`. */
  readonly text: string;
  /** Null if the file is not a PDF. */
  readonly pages: number | null;
}

export interface DocumentFile {
  /** Its extension determines the format, where the content does not. */
  readonly name: string;
  /** Empty after a PDF was read. */
  readonly bytes: Uint8Array;
  /** Header `Content-Type` of the response it came with, which may name its encoding. */
  readonly contentType?: string | undefined;
  /** Characters of the text to return. Default: all. */
  readonly longest?: number | undefined;
}

/** Kinds with a signature, which a file without it cannot be. */
const signed = new Set<DocumentKind>(['docx', 'xlsx', 'pptx', 'opendocument', 'epub', 'rtf']);
const withoutText: Readonly<Partial<Record<DocumentKind, string>>> = {
  html: 'This page contains no text. Pages that need JavaScript cannot be read.',
  pdf: 'No text was found in this PDF. If its pages are images, run text recognition (OCR) on it first.',
};

/**
 * Reads the text of a file. Its content determines the format, and its extension that of a text. Nothing in it is run or fetched.
 *
 * @throws DocumentError for another extension, or a file with another format, a password, too much text or no text
 */
export async function parseDocument(file: DocumentFile, context: ReadContext): Promise<DocumentText> {
  const named = kindOfName(file.name);
  if (named === undefined)
    throw new DocumentError(`This type of file is not supported. Save it as one of ${documentEndings.join(', ')}.`);
  const document = await readKind(file, named, context);
  if (document.text.trim() === '')
    throw new DocumentError(withoutText[named] ?? 'This file contains no text. Choose another one.');
  const { title, text, pages = null } = document;
  return { title: storableText(title), text: storableText(text.slice(0, file.longest)), pages };
}

type ReadText = Omit<DocumentText, 'pages'> & Partial<Pick<DocumentText, 'pages'>>;

async function readKind(file: DocumentFile, named: DocumentKind, context: ReadContext): Promise<ReadText> {
  const { bytes } = file;
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1_024));
  if (head.includes('%PDF-') && (named === 'pdf' || head.indexOf('%PDF-') === 0)) return readPdf(bytes, context);
  if (named === 'pdf' && !isZip(bytes)) throw new DocumentError('This file is not a PDF. Check its extension.');
  if (isZip(bytes)) return readZipped(bytes);
  if (isCompound(bytes)) throw refuseCompound(bytes);
  if (isRtf(bytes)) return { title: '', text: readRtf(bytes) };
  if (signed.has(named))
    throw new DocumentError('This file is damaged, or its format is not that of its extension. Save it again.');
  return named === 'eml' ? readMessage(bytes) : readText(file, named);
}

/** Files with a password are wrapped into the format of the old Office programs. */
function refuseCompound(bytes: Uint8Array): DocumentError {
  const isLocked = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes('EncryptedPackage', 0, 'utf16le');
  return isLocked
    ? withPassword()
    : new DocumentError('This file has the format of an old program. Save it as .docx, .xlsx or .pptx.');
}

async function readText({ bytes, contentType }: DocumentFile, kind: DocumentKind): Promise<ReadText> {
  const text = await readUnnamedText(bytes, {
    charset: charsetOf(contentType),
    declared: (head) => (kind === 'html' ? declaredInHtml(head) : undefined),
  });
  if (text.slice(0, 1_000).includes('\0'))
    throw new DocumentError('This file contains binary data, not text. Choose another one.');
  if (text.length > maxCharacters) throw tooLong();
  if (kind === 'html') return readArticle(text);
  if (kind === 'csv') return { title: '', text: csvText(text) };
  if (kind === 'json') return { title: '', text: readJson(text) };
  if (kind === 'subtitles') return { title: '', text: readSubtitles(text) };
  const plain = text.replaceAll(/\r\n?/g, '\n');
  return { title: /^#\s+(\S.*)$/m.exec(plain)?.[1]?.trim() ?? '', text: plain };
}

function csvText(text: string): string {
  const { header, rows } = parseCsv(text);
  const blocks = new BlockWriter();
  const lines = [header, ...rows.map((row) => header.map((name) => row[name] ?? ''))];
  blocks.table(lines.map((cells) => new Map(cells.flatMap((cell, at) => (cell === '' ? [] : [[at, cell] as const])))));
  return blocks.toString();
}
