import type { HttpApi, OutboundInit, OutboundResponse } from '#plugin-api';
import { typedInternalHost } from '../kit/internal-host.ts';
import { ProviderError, type ProviderErrorKind, type ProviderSettings } from '../providers/provider.ts';
import { imageBytes, type ImageBytes } from './image-bytes.ts';

export interface FetchImageInit {
  readonly http: Pick<HttpApi, 'fetch'>;
  /** Settings of the provider that returned the URL. */
  readonly settings: ProviderSettings;
  /** Milliseconds, 1 or more. */
  readonly timeout: number;
  readonly signal?: AbortSignal | undefined;
}

/** Bytes; a 4K image in PNG has about 25 MB. */
const largest = 50 * 1_048_576;

/**
 * Fetches an image from the URL a provider returned, guarded (D10, D23): private addresses are refused, except the host and
 * port of the provider's base URL.
 *
 * @throws ProviderError; its message names only the host, because the rest of such a URL is a key to the image.
 */
export async function fetchImage(
  url: string,
  { http, settings, timeout, signal }: FetchImageInit,
): Promise<ImageBytes> {
  const allowHost = typedInternalHost(settings.base_url ?? '');
  const init: OutboundInit = {
    headers: { accept: 'image/*' },
    timeout,
    maxBytes: largest,
    ...(allowHost !== null && { allowHost }),
    ...(signal !== undefined && { signal }),
  };
  const response = await http.fetch(url, init).catch((thrown: unknown) => {
    throw failedFetch('image', thrown, signal);
  });
  if (response.status !== 200) throw refusedFetch('image', response);
  return imageBytes(Buffer.from(response.body.buffer, response.body.byteOffset, response.body.byteLength));
}

/** The error of a file that could not be fetched. @param what `image` or `video` */
export function failedFetch(what: string, thrown: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted === true)
    return new ProviderError({ kind: 'aborted', message: 'the request was aborted.', cause: thrown });
  const code = (thrown as { code?: unknown }).code;
  if (!(thrown instanceof Error) || typeof code !== 'string' || !code.startsWith('outbound_')) return thrown;
  const passing: Readonly<Record<string, ProviderErrorKind>> = {
    outbound_timeout: 'timeout',
    outbound_connect: 'connection',
    outbound_dns: 'connection',
  };
  return new ProviderError({
    kind: passing[code] ?? 'unreadable',
    message: `the ${what} could not be fetched from its URL: ${thrown.message}`,
    cause: thrown,
  });
}

export function refusedFetch(what: string, { status, url }: OutboundResponse): ProviderError {
  const message = `the ${what} could not be fetched from its URL: ${new URL(url).host} returned ${String(status)}.`;
  if (status === 429) return new ProviderError({ kind: 'rate_limited', status, message });
  return new ProviderError({ kind: status >= 500 ? 'unavailable' : 'unreadable', status, message });
}
