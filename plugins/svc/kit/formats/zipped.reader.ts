import { DocumentError } from '#plugin-api';
import type { DocumentKind } from '../document-kinds.ts';
import { readDocx } from './docx.reader.ts';
import { readEpub } from './epub.reader.ts';
import { readOpenDocument } from './open-document.reader.ts';
import { readPptx } from './pptx.reader.ts';
import { readXlsx } from './xlsx.reader.ts';
import { openZip, type ZipEntries } from './zip.reader.ts';

/** The text of a zipped format. */
export interface ZippedText {
  /** '' without one. */
  readonly title: string;
  readonly text: string;
}

type ZippedKind = Extract<DocumentKind, 'docx' | 'xlsx' | 'pptx' | 'opendocument' | 'epub'>;

const readers: Readonly<Record<ZippedKind, (zip: ZipEntries) => Promise<string | ZippedText>>> = {
  docx: readDocx,
  xlsx: readXlsx,
  pptx: readPptx,
  opendocument: readOpenDocument,
  epub: readEpub,
};

/** Entries that only one kind has, or the folder of its parts. */
const marks: readonly (readonly [name: string, kind: ZippedKind])[] = [
  ['word/', 'docx'],
  ['xl/', 'xlsx'],
  ['ppt/', 'pptx'],
  ['content.xml', 'opendocument'],
  ['META-INF/container.xml', 'epub'],
];

/** Reads a zipped format, which its content determines: a name may be wrong. @throws DocumentError */
export async function readZipped(bytes: Uint8Array): Promise<ZippedText> {
  const zip = await openZip(bytes);
  const [, kind] = marks.find(([mark]) => zip.names.some((name) => name.startsWith(mark))) ?? [];
  if (kind === undefined)
    throw new DocumentError('This zip file is not a document. Unpack it and choose the files in it.');
  const read = await readers[kind](zip);
  if (typeof read !== 'string') return read;
  const isProse = kind === 'docx' || kind === 'opendocument';
  return { title: isProse ? (/^# (.+)$/m.exec(read)?.[1] ?? '') : '', text: read };
}
