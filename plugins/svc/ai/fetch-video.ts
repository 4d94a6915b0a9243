import type { HttpApi } from '#plugin-api';
import { typedInternalHost } from '../kit/internal-host.ts';
import { ProviderError, type ProviderSettings, type VideoOutput } from '../providers/provider.ts';
import { failedFetch, refusedFetch } from './fetch-image.ts';

export interface FetchVideoInit {
  readonly http: Pick<HttpApi, 'fetch'>;
  /** Settings of the provider that returned the URL. */
  readonly settings: ProviderSettings;
  /** Milliseconds, 1 or more. */
  readonly timeout: number;
  readonly signal?: AbortSignal | undefined;
}

/** Bytes. A video of 8 seconds in 1080p has about 25 MB. */
const largest = 200 * 1_048_576;

export interface VideoBytes {
  readonly bytes: Buffer;
  /** Without dot. */
  readonly extension: 'mp4' | 'webm';
}

/**
 * Fetches a video from the URL a provider returned, guarded as images are (D10, D23, D35).
 *
 * @throws ProviderError; its message names only the host.
 */
export async function fetchVideo(
  { url, headers }: VideoOutput,
  { http, settings, timeout, signal }: FetchVideoInit,
): Promise<VideoBytes> {
  const allowHost = typedInternalHost(settings.base_url ?? '');
  const response = await http
    .fetch(url, {
      headers: { accept: 'video/*', ...headers },
      timeout,
      maxBytes: largest,
      ...(allowHost !== null && { allowHost }),
      ...(signal !== undefined && { signal }),
    })
    .catch((thrown: unknown) => {
      throw failedFetch('video', thrown, signal);
    });
  if (response.status !== 200) throw refusedFetch('video', response);
  const bytes = Buffer.from(response.body.buffer, response.body.byteOffset, response.body.byteLength);
  return { bytes, extension: videoExtension(bytes) };
}

/** Detects a video by its bytes, not by its declared type. */
function videoExtension(bytes: Buffer): VideoBytes['extension'] {
  if (bytes.toString('latin1', 4, 8) === 'ftyp') return 'mp4';
  if (bytes.toString('latin1', 0, 4) === '\x1aE\xdf\xa3') return 'webm';
  throw new ProviderError({ kind: 'unreadable', status: 200, message: 'it returned no MP4 or WebM video.' });
}
