import type { HttpApi } from '#plugin-api';
import { inParallel } from './in-parallel.ts';
import type { MessageImage, TextMessage } from './system-text.ts';
import { invalid } from '../kit/read-members.ts';
import { decodedImage } from './image-types.ts';

/** Of one request, which costs its sender some bytes for each (D46). */
const limits = { images: 20, bytes: 20 * 1_048_576, atOnce: 4 } as const;

/** The images of a request that are named by address. */
export interface ImageAddresses {
  /**
   * Notes an address, and returns the image without its bytes. Nothing is fetched.
   *
   * @throws RestError 400 that names the parameter, for the 21st address too
   */
  add(url: string, name: string): MessageImage;
  /**
   * The messages with the bytes of these images: up to four fetches at a time, from public addresses only. An address that
   * occurs several times is fetched once, also for a second call. Ends at the first error.
   *
   * @throws RestError 400 that names the parameter
   */
  load(messages: readonly TextMessage[], signal: AbortSignal | undefined): Promise<readonly TextMessage[]>;
}

export function createImageAddresses(http: Pick<HttpApi, 'fetch'>): ImageAddresses {
  const names = new Map<string, string>();
  const loaded = new Map<string, MessageImage>();
  let left: number = limits.bytes;

  async function load(url: string, signal: AbortSignal): Promise<void> {
    const name = names.get(url) ?? 'messages';
    if (loaded.has(url)) return;
    const bytes = await fetchBytes(url, { http, name, signal, maxBytes: Math.max(1, left) });
    left -= bytes.length;
    if (left < 0) throw invalid(name, tooLarge);
    loaded.set(url, decodedImage(bytes, name));
  }

  return {
    add(url, name) {
      if (!/^https?:\/\//i.test(url)) throw invalid(name, 'must be a data: or http(s): URL.');
      if (!names.has(url) && names.size === limits.images)
        throw invalid(name, `is one address too many: a request may name ${String(limits.images)} images by address.`);
      if (!names.has(url)) names.set(url, name);
      return { bytes: new Uint8Array(), mimeType: '', url };
    },
    async load(messages, signal) {
      if (names.size === 0) return messages;
      await inParallel([...names.keys()], limits.atOnce, { task: load, signal });
      const found = (image: MessageImage): MessageImage =>
        image.url === undefined ? image : { ...image, ...loaded.get(image.url) };
      return messages.map((message) =>
        message.images === undefined ? message : { ...message, images: message.images.map(found) },
      );
    },
  };
}

const tooLarge = `is too large: images by address may have ${String(limits.bytes)} bytes in all.`;

interface FetchInit {
  readonly http: Pick<HttpApi, 'fetch'>;
  readonly name: string;
  readonly signal: AbortSignal;
  readonly maxBytes: number;
}

async function fetchBytes(url: string, { http, name, signal, maxBytes }: FetchInit): Promise<Uint8Array> {
  try {
    const response = await http.fetch(url, { headers: { accept: 'image/*' }, maxBytes, signal });
    if (response.status === 200) return response.body;
    throw invalid(name, `could not be fetched: the server returned ${String(response.status)}.`);
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message: string };
    if (code === 'outbound_too_large') throw invalid(name, tooLarge);
    if (typeof code === 'string' && code.startsWith('outbound_'))
      throw invalid(name, `could not be fetched. ${message}`);
    throw error;
  }
}
