import type { ContentApi, HttpApi, Logger, Media } from '#plugin-api';
import { RestError } from '#plugin-api';
import { errors } from '../kit/errors.ts';
import { generatedFileName } from '../kit/generated-file-name.ts';
import type { ImageOutput, ProviderSettings } from '../providers/provider.ts';
import { fetchImage } from './fetch-output.ts';
import { decodedImage, type ImageBytes } from './image-bytes.ts';

/** `url`: a URL, the provider's own if it returned one. `b64_json`: the data. `media`: always saved in the media library. */
export type ImageForm = 'url' | 'b64_json' | 'media';

/** A generated image item (contract 2.3), with its entry in the media library if it was saved. */
export interface GeneratedImage {
  readonly url: string | null;
  readonly b64_json: string | null;
  readonly revised_prompt: string | null;
  readonly media: Pick<Media, 'id' | 'url' | 'size' | 'mimeType'> | null;
}

export interface DeliverInit {
  readonly form: ImageForm;
  readonly prompt: string;
  /** Author in the media library; 0: none. */
  readonly userId: number;
  /** Saves it as private media. */
  readonly isPrivate?: boolean | undefined;
  readonly settings: ProviderSettings;
  readonly host: {
    readonly content: { readonly media: Pick<ContentApi['media'], 'save'> };
    readonly http: Pick<HttpApi, 'fetch'>;
    readonly log: Logger;
  };
  /** Fetches an image with retries, within the time left. */
  readonly retried: <T>(attempt: (timeLeft: number) => Promise<T>) => Promise<T>;
  readonly signal?: AbortSignal | undefined;
  /** Called with the reason if an image is returned as Base64 because it could not be saved. */
  readonly onUnsaved?: (reason: string) => void;
}

/**
 * Converts an image to the requested form (D10): base64 is saved in the media library to get a URL, a URL becomes base64 by
 * a guarded fetch, and the right form passes unchanged. An image that cannot be saved to get a URL is paid for all the same, so it
 * is returned as base64.
 *
 * @throws ProviderError if it cannot be fetched or is no image, RestError `rest_svc_media_not_saved` for the form `media`.
 */
export async function deliverImage(image: ImageOutput, init: DeliverInit): Promise<GeneratedImage> {
  const { revised_prompt } = image;
  const { form } = init;
  if (form === 'url' && image.url !== null) return { url: image.url, b64_json: null, revised_prompt, media: null };
  if (form === 'b64_json' && image.b64_json !== null)
    return { url: null, b64_json: image.b64_json, revised_prompt, media: null };
  const found = await bytesOf(image, init);
  if (form === 'b64_json') return { url: null, b64_json: found.bytes.toString('base64'), revised_prompt, media: null };
  const media = await saved(found, revised_prompt ?? init.prompt, init);
  if (typeof media === 'string') {
    if (form === 'media') throw errors.media_not_saved({ values: { reason: media } });
    init.onUnsaved?.(media);
    return { url: null, b64_json: found.bytes.toString('base64'), revised_prompt, media: null };
  }
  const { id, url, size, mimeType } = media;
  return { url, b64_json: null, revised_prompt, media: { id, url, size, mimeType } };
}

async function bytesOf(
  { b64_json, url }: ImageOutput,
  { host, settings, retried, signal }: DeliverInit,
): Promise<ImageBytes> {
  if (b64_json !== null) return decodedImage(b64_json);
  return retried((timeout) => fetchImage(url ?? '', { http: host.http, settings, timeout, signal }));
}

/** The entry in the media library, or why there is none. */
async function saved(
  { bytes, extension }: ImageBytes,
  description: string,
  { host, prompt, userId, isPrivate = false }: DeliverInit,
): Promise<Media | string> {
  const media = {
    bytes,
    name: generatedFileName(extension),
    title: shortened(prompt, 100),
    alt: shortened(description, 250),
    ...(userId > 0 && { authorId: userId }),
    ...(isPrivate && { isPrivate }),
  };
  try {
    return await host.content.media.save(media);
  } catch (error) {
    host.log.error('Failed to save a generated image in the media library', { event: 'image_not_saved', error });
    return error instanceof RestError ? error.message : 'See the log for the cause.';
  }
}

export function shortened(text: string, longest: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const characters = [...line];
  return characters.length > longest
    ? `${characters
        .slice(0, longest - 1)
        .join('')
        .trimEnd()}…`
    : line;
}
