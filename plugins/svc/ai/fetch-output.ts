import type { HttpApi, OutboundResponse } from '#plugin-api';
import { typedInternalHost } from '../kit/internal-host.ts';
import { ProviderError } from '../providers/provider.ts';
import type { ProviderErrorKind, ProviderSettings, VideoOutput } from '../providers/provider.ts';
import { imageBytes, type ImageBytes } from './image-bytes.ts';

export interface FetchInit {
  readonly http: Pick<HttpApi, 'fetch'>;
  /** Settings of the provider that returned the URL. */
  readonly settings: ProviderSettings;
  /** Milliseconds, 1 or more. */
  readonly timeout: number;
  readonly signal?: AbortSignal | undefined;
}

/** Bytes; a 4K image in PNG and a video of 8 seconds in 1080p have about 25 MB. */
const largest = { image: 50 * 1_048_576, video: 200 * 1_048_576 } as const;

export interface VideoBytes {
  readonly bytes: Buffer;
  /** Without dot. */
  readonly extension: 'mp4' | 'webm';
}

/**
 * Fetches an image from the URL a provider returned, guarded (D10, D23, D35): private addresses are refused, except the host
 * and port of the provider's base URL.
 *
 * @throws ProviderError; its message names only the host, because the rest of such a URL is a key to the image.
 */
export async function fetchImage(url: string, init: FetchInit): Promise<ImageBytes> {
  return imageBytes(await fetchOutput('image', { url }, init));
}

/** The same for a video. */
export async function fetchVideo(output: VideoOutput, init: FetchInit): Promise<VideoBytes> {
  const bytes = await fetchOutput('video', output, init);
  return { bytes, extension: videoExtension(bytes) };
}

async function fetchOutput(
  kind: keyof typeof largest,
  { url, headers }: VideoOutput,
  { http, settings, timeout, signal }: FetchInit,
): Promise<Buffer> {
  const allowHost = typedInternalHost(settings.base_url ?? '');
  const response = await http
    .fetch(url, {
      headers: { accept: `${kind}/*`, ...headers },
      timeout,
      maxBytes: largest[kind],
      ...(allowHost !== null && { allowHost }),
      ...(signal !== undefined && { signal }),
    })
    .catch((thrown: unknown) => {
      throw failedFetch(kind, thrown, signal);
    });
  if (response.status !== 200) throw refusedFetch(kind, response);
  return Buffer.from(response.body.buffer, response.body.byteOffset, response.body.byteLength);
}

/** Detects a video by its bytes, not by its declared type. */
function videoExtension(bytes: Buffer): VideoBytes['extension'] {
  if (bytes.toString('latin1', 4, 8) === 'ftyp') return 'mp4';
  if (bytes.toString('latin1', 0, 4) === '\x1aE\xdf\xa3') return 'webm';
  throw new ProviderError({ kind: 'unreadable', status: 200, message: 'it returned no MP4 or WebM video.' });
}

/** The error of a file that could not be fetched. @param what `image` or `video` */
function failedFetch(what: string, thrown: unknown, signal: AbortSignal | undefined): unknown {
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

function refusedFetch(what: string, { status }: OutboundResponse): ProviderError {
  const message = `the ${what} could not be fetched from its URL: the server returned ${String(status)}.`;
  if (status === 429) return new ProviderError({ kind: 'rate_limited', status, message });
  return new ProviderError({ kind: status >= 500 ? 'unavailable' : 'unreadable', status, message });
}
