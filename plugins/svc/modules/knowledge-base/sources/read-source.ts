import { errorText, DocumentError, isUrl, type HostApi } from '#plugin-api';
import { typedInternalHost } from '../../../kit/internal-host.ts';
import type { DocumentFile } from '../../../kit/document.reader.ts';
import { endingOfResponse } from '../../../kit/document-kinds.ts';
import { readDocument, readPageText } from '../../../kit/documents.ts';
import { origins, type Source, type SourceStore } from './source.ts';

/** The current text of a source. */
export interface SourceText {
  readonly title: string;
  readonly url: string;
  /** Markdown, or plain text. */
  readonly text: string;
}

/** A source that cannot be indexed; the message says why and what to do. A retry does not help. */
export class SourceError extends Error {
  /** The source no longer exists, and its passages must be deleted. */
  readonly isGone: boolean;

  constructor(message: string, isGone = false) {
    super(message);
    this.isGone = isGone;
  }
}

export interface ReadParts {
  readonly host: Pick<HostApi, 'content' | 'documents' | 'http' | 'site'>;
  readonly sources: Pick<SourceStore, 'content' | 'saveText'>;
}

export interface ReadInit {
  readonly signal: AbortSignal;
  /** Reports progress in one sentence. */
  readonly onProgress: (message: string) => void;
}

const fetchInit = { timeout: 30_000, maxBytes: 25_000_000 } as const;
/** Milliseconds. A PDF of 3,000 pages takes about two minutes. */
export const readDeadline = 300_000;
/** Pages of a PDF between two progress messages. */
const pagesBetween = 10;

/** Reads the current text of a source: stored text, an uploaded file, a post, or a page over HTTP. @throws SourceError */
export async function readSource(parts: ReadParts, source: Source, init: ReadInit): Promise<SourceText> {
  if (source.kind === 'post') return readPost(parts, source, init);
  if (source.kind === 'address') return readAddress(parts, source, init);
  const content = await parts.sources.content(source.id);
  if (content === null) throw new SourceError('Its text is missing. Delete the source and add it again.');
  const { title, url } = source;
  if (content.file === null) return { title, url, text: content.body };
  const document = await readFile(parts, { name: content.fileName, bytes: content.file }, init);
  const read = { title: document.title === '' ? title : document.title, text: document.text };
  await parts.sources.saveText(source, read);
  return { ...read, url };
}

/** Moves the bytes to a thread. @throws SourceError */
function readFile(
  { host }: Pick<ReadParts, 'host'>,
  file: Pick<DocumentFile, 'name' | 'bytes' | 'contentType'>,
  { signal, onProgress }: ReadInit,
) {
  return readDocument(host, file, {
    queue: 'background',
    deadline: readDeadline,
    signal,
    onPage: onPage(onProgress),
  }).catch(throwSourceError);
}

function onPage(onProgress: ReadInit['onProgress']): (page: number, pages: number) => void {
  return (page, pages) => {
    if (page % pagesBetween === 0) onProgress(`Reading page ${String(page)} of ${String(pages)}.`);
  };
}

async function readPost({ host }: ReadParts, { postId }: Source, { signal }: ReadInit): Promise<SourceText> {
  const { content } = host;
  const post = postId === null ? null : await content.posts.get(postId);
  if (post?.status !== 'publish') throw new SourceError('This post is no longer published.', true);
  if (post.password !== '') throw new SourceError('This post is now protected by a password.', true);
  const { content: html } = await content.render(post);
  const init = { queue: 'background', signal } as const;
  const [excerpt, { text }] = await Promise.all([
    post.excerpt === '' ? '' : readPageText(host, post.excerpt, init).then((read) => read.text),
    readPageText(host, `<main>${html}</main>`, init),
  ]).catch(throwSourceError);
  const whole = [excerpt, text].filter((part) => part.trim() !== '').join('\n\n');
  if (whole === '') throw new SourceError('This post has no text.');
  return {
    title: post.title,
    url: await content.permalink(post),
    text: `# ${post.title.replace(/\s+/g, ' ')}\n\n${whole}`,
  };
}

async function readAddress(parts: ReadParts, source: Source, init: ReadInit): Promise<SourceText> {
  init.onProgress('Fetching the page');
  const { body, headers, url, status } = await fetchAddress(parts.host, source, init.signal);
  if (status === 404 || status === 410)
    throw new SourceError(`The page returned status ${String(status)}: it no longer exists.`, source.parentId !== null);
  if (status === 429 || status >= 500)
    throw Object.assign(new Error(`The page returned status ${String(status)}.`), { status });
  if (status < 200 || status > 299)
    throw new SourceError(`The page returned status ${String(status)}. Open it in a browser to see why.`);
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const ending = endingOfResponse(type, url);
  if (ending === undefined)
    throw new SourceError(
      `The URL returned ${type}. Web pages, texts, tables, PDFs, Office and OpenDocument files, books and messages are read.`,
    );
  const document = await readFile(
    parts,
    { name: `page.${ending}`, bytes: body, contentType: headers['content-type'] },
    init,
  );
  return { title: document.title === '' ? urlTitle(url) : document.title, url: source.url, text: document.text };
}

/** Fetches a URL. Allows this site, and literal private addresses that an administrator entered (D23). */
export function fetchAddress(
  { http, site }: Pick<HostApi, 'http' | 'site'>,
  { url, origin }: Pick<Source, 'url' | 'origin'>,
  signal: AbortSignal,
) {
  const own = new URL(site.url);
  const isOwn = isUrl(url) && new URL(url).origin === own.origin;
  const allowHost = isOwn
    ? `${own.hostname}:${own.port || (own.protocol === 'https:' ? '443' : '80')}`
    : origin === origins.admin
      ? typedInternalHost(url)
      : null;
  return http
    .fetch(url, {
      ...fetchInit,
      signal,
      headers: { accept: 'text/html, text/plain, text/markdown, application/pdf, application/xml;q=0.9, */*;q=0.1' },
      ...(allowHost !== null && { allowHost }),
    })
    .catch((error: unknown) => {
      const code = (error as { readonly code?: unknown }).code;
      if (code === 'outbound_refused' || code === 'outbound_too_large' || code === 'outbound_redirects')
        throw new SourceError(errorText(error));
      throw error;
    });
}

function urlTitle(url: string): string {
  return url.replace(/^https?:\/\/|[?#].*/g, '').replace(/\/$/, '');
}

export function throwSourceError(error: unknown): never {
  // A retry helps when the queue is full.
  throw error instanceof DocumentError && error.code !== 'busy' ? new SourceError(error.message) : error;
}
