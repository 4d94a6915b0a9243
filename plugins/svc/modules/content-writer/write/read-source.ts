import type { HostApi } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import { typedInternalHost } from '../../../kit/internal-host.ts';

/** What a page says. */
export interface SourceText {
  readonly title: string;
  readonly text: string;
}

const mostBytes = 3_000_000;
/** Milliseconds. */
const timeout = 20_000;

export interface ReadInit {
  /** An administrator typed the address: a literal inside this network is reached, and nothing beside it (D23). */
  readonly typed?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads a page by a guarded fetch.
 *
 * @throws RestError 400 `rest_svc_source_unreadable` with the reason
 */
export async function readSource(host: Pick<HostApi, 'http'>, url: string, init: ReadInit = {}): Promise<SourceText> {
  const { body, headers } = await fetchSource(host, url, init);
  const type = headers['content-type'] ?? '';
  const { pageText } = await import('../../../kit/page-text.ts');
  if (!/html|^text\/|xml|^$/.test(type)) throw unreadable(url, `This is no page to read, but ${type}.`);
  const page = /html|xml|^$/.test(type) ? pageText(body) : { title: '', text: body };
  if (page.text.trim() === '')
    throw unreadable(url, 'There is no text on this page. It may be made by scripts, which are not run here.');
  return page;
}

/** The answer to an address that somebody typed, as text. */
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
    const answer = await http.fetch(url, {
      timeout,
      ...(allowHost !== null && { allowHost }),
      maxBytes: mostBytes,
      headers: {
        accept:
          'text/html, application/xhtml+xml, application/rss+xml, application/atom+xml, text/xml;q=0.9, */*;q=0.5',
      },
      ...(signal && { signal }),
    });
    if (answer.status < 200 || answer.status > 299)
      throw unreadable(url, `It answered with status ${String(answer.status)}.`);
    return { body: answer.text(), bytes: answer.body, headers: answer.headers, url: answer.url };
  } catch (error) {
    if (signal?.aborted || (error as { readonly code?: unknown }).code === 'rest_svc_source_unreadable') throw error;
    throw unreadable(url, error instanceof Error ? error.message : 'It could not be fetched.', error);
  }
}

export function unreadable(url: string, reason: string, cause?: unknown): Error {
  return errors.source_unreadable({ values: { url, reason }, ...(cause !== undefined && { cause }) });
}
