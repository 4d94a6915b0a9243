import { DocumentError, type HostApi } from '#plugin-api';
import { readDocument } from '../../../kit/documents.ts';
import { errors } from '../../../kit/errors.ts';
import { typedInternalHost } from '../../../kit/internal-host.ts';

/** Title and text of a page. */
export interface SourceText {
  readonly title: string;
  readonly text: string;
}

const maxBytes = 3_000_000;
/** Milliseconds. */
const timeout = 20_000;

export interface ReadInit {
  /** An administrator typed the URL: allows this host in the local network, and no other (D23). */
  readonly typed?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads a page with a guarded fetch.
 *
 * @throws RestError 400 `rest_svc_source_unreadable` with the reason
 */
export async function readSource(
  host: Pick<HostApi, 'http' | 'documents'>,
  url: string,
  init: ReadInit = {},
): Promise<SourceText> {
  const { bytes, headers } = await fetchSource(host, url, init);
  const contentType = headers['content-type'];
  const type = contentType ?? '';
  if (!/html|^text\/|xml|^$/.test(type)) throw unreadable(url, `Pages of type ${type} cannot be read.`);
  const name = /html|xml|^$/.test(type) ? 'page.html' : 'page.txt';
  const { title, text } = await readDocument(host, { name, bytes, contentType }, { signal: init.signal }).catch(
    (error: unknown) => {
      throw error instanceof DocumentError ? unreadable(url, error.message, error) : error;
    },
  );
  return { title: name === 'page.txt' ? '' : title, text };
}

/** Fetches a URL that a user typed or a feed contains. */
export async function fetchSource(
  { http }: Pick<HostApi, 'http'>,
  url: string,
  { signal, typed = false }: ReadInit = {},
): Promise<{
  readonly body: string;
  readonly bytes: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  readonly url: string;
}> {
  const allowHost = typed ? typedInternalHost(url) : null;
  try {
    const response = await http.fetch(url, {
      timeout,
      ...(allowHost !== null && { allowHost }),
      maxBytes: maxBytes,
      headers: {
        accept:
          'text/html, application/xhtml+xml, application/rss+xml, application/atom+xml, text/xml;q=0.9, */*;q=0.5',
      },
      ...(signal && { signal }),
    });
    if (response.status < 200 || response.status > 299)
      throw unreadable(url, `The server returned status ${String(response.status)}.`);
    return { body: response.text(), bytes: response.body, headers: response.headers, url: response.url };
  } catch (error) {
    if (signal?.aborted || (error as { readonly code?: unknown }).code === 'rest_svc_source_unreadable') throw error;
    throw unreadable(url, error instanceof Error ? error.message : 'The page could not be fetched.', error);
  }
}

export function unreadable(url: string, reason: string, cause?: unknown): Error {
  return errors.source_unreadable({ values: { url, reason }, ...(cause !== undefined && { cause }) });
}
