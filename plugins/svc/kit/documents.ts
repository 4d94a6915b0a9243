import type { HostApi, ReadInit } from '#plugin-api';
import type { CsvTable, parsePackedCsv } from './csv.reader.ts';
import type { DocumentFile, DocumentText, parseDocument } from './document.reader.ts';
import type { Feed, FeedFile, parseFeed } from './feed.reader.ts';
import type { PageProgress } from './formats/pdf.reader.ts';
import type { PageText, parsePageText } from './page-text.reader.ts';

type Reading = Pick<HostApi, 'documents'>;

/** Who waits, and how long (see ReadInit). */
export type ReadingInit = Pick<ReadInit<never>, 'queue' | 'userId' | 'deadline' | 'signal'>;

export interface ReadDocumentInit extends ReadingInit {
  /** Called after each page of a PDF. */
  readonly onPage?: ((page: number, pages: number) => void) | undefined;
}

/**
 * Reads the text of a file in a thread (see `document-kinds.ts`). The bytes are moved to the thread: the caller's array is empty
 * afterwards.
 *
 * @throws DocumentError for another extension, or a file with another format, a password, too much text or no text
 */
export function readDocument(
  { documents }: Reading,
  file: DocumentFile,
  { onPage, ...init }: ReadDocumentInit = {},
): Promise<DocumentText> {
  return documents.read<typeof parseDocument>({
    module: new URL('./document.reader.ts', import.meta.url),
    reader: 'parseDocument',
    input: file,
    movesBytes: true,
    ...(onPage && { onProgress: ({ page, pages }: PageProgress) => onPage(page, pages) }),
    ...init,
  });
}

/** Reads the text of a page in a thread, without the parts that repeat on every page of a site. @throws DocumentError */
export function readPageText({ documents }: Reading, html: string, init: ReadingInit = {}): Promise<PageText> {
  return documents.read<typeof parsePageText>({
    module: new URL('./page-text.reader.ts', import.meta.url),
    reader: 'parsePageText',
    input: { html },
    ...init,
  });
}

/** Reads RSS or Atom in a thread. @throws DocumentError when it is neither */
export function readFeed({ documents }: Reading, file: FeedFile, init: ReadingInit = {}): Promise<Feed> {
  return documents.read<typeof parseFeed>({
    module: new URL('./feed.reader.ts', import.meta.url),
    reader: 'parseFeed',
    input: file,
    ...init,
  });
}

/** A table whose rows are unpacked one by one. */
export interface ReadTable extends Pick<CsvTable, 'header' | 'delimiter'> {
  readonly rowCount: number;
  /** The rows in order, by name of the column. */
  rows(): Iterable<Readonly<Record<string, string>>>;
}

/** Reads CSV in a thread. @throws DocumentError when it is empty, too large or a quote is not closed */
export async function readCsv({ documents }: Reading, text: string, init: ReadingInit = {}): Promise<ReadTable> {
  const { header, delimiter, rows } = await documents.read<typeof parsePackedCsv>({
    module: new URL('./csv.reader.ts', import.meta.url),
    reader: 'parsePackedCsv',
    input: { text },
    ...init,
  });
  return {
    header,
    delimiter,
    rowCount: rows.length,
    *rows() {
      for (const row of rows) yield JSON.parse(row) as Readonly<Record<string, string>>;
    },
  };
}
