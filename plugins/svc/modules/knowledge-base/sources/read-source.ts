import { isUrl, type HostApi } from '#plugin-api';
import { typedInternalHost } from '../../../kit/internal-host.ts';
import { pageText } from '../../../kit/page-text.ts';
import { DocumentError, readDocument } from '../../../kit/read-document.ts';
import { origins, type Lease, type Source, type SourceStore } from './source.ts';

/** What a source says now. */
export interface SourceText {
  readonly title: string;
  readonly url: string;
  /** Markdown, or plain text. */
  readonly text: string;
}

/** A source that cannot be indexed as it is; the message says why and what to do. Trying again does not help. */
export class SourceError extends Error {
  /** The source is not there any more and its passages are to go. */
  readonly isGone: boolean;

  constructor(message: string, isGone = false) {
    super(message);
    this.isGone = isGone;
  }
}

export interface ReadParts {
  readonly host: Pick<HostApi, 'content' | 'http' | 'site'>;
  readonly sources: Pick<SourceStore, 'content' | 'keepText'>;
}

export interface ReadInit {
  readonly lease: Lease;
  readonly signal: AbortSignal;
  /** One sentence about what is being done. */
  readonly onProgress: (message: string) => void;
}

const fetchInit = { timeout: 30_000, maxBytes: 25_000_000 } as const;
/** Pages of a PDF between two sentences about it. */
const pagesBetween = 10;

/** Reads what a source says now: what was typed or uploaded, a post, or a page that is fetched. @throws SourceError */
export async function readSource(parts: ReadParts, source: Source, init: ReadInit): Promise<SourceText> {
  if (source.kind === 'post') return readPost(parts, source);
  if (source.kind === 'address') return readAddress(parts, source, init);
  const content = await parts.sources.content(source.id);
  if (content === null) throw new SourceError('Its text is gone. Delete it and add it again.');
  const { title, url } = source;
  if (content.file === null) return { title, url, text: content.body };
  const document = await readDocument(
    { name: content.fileName, bytes: content.file },
    { signal: init.signal, onPage: onPage(init.onProgress) },
  ).catch(asSourceError);
  const read = { title: document.title === '' ? title : document.title, text: document.text };
  await parts.sources.keepText(init.lease, read);
  return { ...read, url };
}

function onPage(onProgress: ReadInit['onProgress']): (page: number, pages: number) => void {
  return (page, pages) => {
    if (page % pagesBetween === 0) onProgress(`Reading page ${String(page)} of ${String(pages)}.`);
  };
}

async function readPost({ host: { content } }: ReadParts, { postId }: Source): Promise<SourceText> {
  const post = postId === null ? null : await content.posts.get(postId);
  if (post?.status !== 'publish') throw new SourceError('This post is not published any more.', true);
  const { content: html } = await content.render(post);
  const { text } = pageText(`<main>${html}</main>`);
  const excerpt = pageText(post.excerpt).text;
  const whole = [excerpt, text].filter((part) => part.trim() !== '').join('\n\n');
  if (whole === '') throw new SourceError('This post holds no text.');
  return {
    title: post.title,
    url: await content.permalink(post),
    text: `# ${post.title.replace(/\s+/g, ' ')}\n\n${whole}`,
  };
}

async function readAddress(parts: ReadParts, source: Source, { signal, onProgress }: ReadInit): Promise<SourceText> {
  onProgress('Fetching the page.');
  const { body, headers, url, status } = await fetchAddress(parts.host, source, signal);
  if (status === 404 || status === 410)
    throw new SourceError(
      `The address answered ${String(status)}: there is no such page any more.`,
      source.parentId !== null,
    );
  if (status === 429 || status >= 500)
    throw Object.assign(new Error(`The address answered ${String(status)}.`), { status });
  if (status < 200 || status > 299)
    throw new SourceError(`The address answered ${String(status)}. Open it in a browser to see why.`);
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const ending =
    type === 'application/pdf'
      ? 'pdf'
      : type === 'text/markdown'
        ? 'md'
        : type === 'text/plain'
          ? 'txt'
          : ['text/html', 'application/xhtml+xml', ''].includes(type)
            ? 'html'
            : null;
  if (ending === null)
    throw new SourceError(`The address answered ${type}, which is neither a page nor a text nor a PDF.`);
  const document = await readDocument(
    { name: `page.${ending}`, bytes: bytesOf(body, headers, ending) },
    { signal, onPage: onPage(onProgress) },
  ).catch(asSourceError);
  return { title: document.title === '' ? titleOfAddress(url) : document.title, url: source.url, text: document.text };
}

/** A page whose encoding only its header tells says it itself. */
function bytesOf(body: Uint8Array, headers: Readonly<Record<string, string>>, ending: string): Uint8Array {
  const charset = /charset\s*=\s*"?([\w-]+)/i.exec(headers['content-type'] ?? '')?.[1];
  return charset === undefined || ending !== 'html'
    ? body
    : Buffer.concat([Buffer.from(`<meta charset="${charset}">`), body]);
}

/** Fetches what an administrator typed: also this very site, and a literal address of a private network (D23). */
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
        throw new SourceError(error instanceof Error ? error.message : String(error));
      throw error;
    });
}

function titleOfAddress(url: string): string {
  return url.replace(/^https?:\/\/|[?#].*$/g, '').replace(/\/$/, '');
}

function asSourceError(error: unknown): never {
  throw error instanceof DocumentError ? new SourceError(error.message) : error;
}
