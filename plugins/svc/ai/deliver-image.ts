import type { ContentApi, HttpApi, Logger, Media } from '#plugin-api';
import { RestError } from '#plugin-api';
import { errors } from '../kit/errors.ts';
import type { ImageOutput, ProviderSettings } from '../providers/provider.ts';
import { fetchImage } from './fetch-image.ts';
import { decodedImage, type ImageBytes } from './image-bytes.ts';

/** `url`: an address, the provider's own where it gave one. `b64_json`: the data. `media`: kept in the media library, whatever came. */
export type ImageForm = 'url' | 'b64_json' | 'media';

/** A generated image item (contract 2.3), and the entry of the media library where one was made. */
export interface GeneratedImage {
  readonly url: string | null;
  readonly b64_json: string | null;
  readonly revised_prompt: string | null;
  readonly media: Pick<Media, 'id' | 'url' | 'size' | 'mimeType'> | null;
}

export interface DeliverInit {
  readonly form: ImageForm;
  readonly prompt: string;
  /** Whose it becomes in the media library; 0: nobody's. */
  readonly userId: number;
  readonly settings: ProviderSettings;
  readonly host: {
    readonly content: { readonly media: Pick<ContentApi['media'], 'save'> };
    readonly http: Pick<HttpApi, 'fetch'>;
    readonly log: Logger;
  };
  /** Runs the fetch of an image with further tries, within the time that is left. */
  readonly tried: <T>(attempt: (timeLeft: number) => Promise<T>) => Promise<T>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Makes of an image what was asked for (D10): base64 becomes an address by way of the media library, an address becomes
 * base64 by a guarded fetch, and what came in the right form passes as it is.
 *
 * @throws ProviderError when it cannot be fetched or is no image, RestError `rest_svc_media_not_saved`.
 */
export async function deliverImage(image: ImageOutput, init: DeliverInit): Promise<GeneratedImage> {
  const { revised_prompt } = image;
  const { form } = init;
  if (form === 'url' && image.url !== null) return { url: image.url, b64_json: null, revised_prompt, media: null };
  if (form === 'b64_json' && image.b64_json !== null)
    return { url: null, b64_json: image.b64_json, revised_prompt, media: null };
  const found = await bytesOf(image, init);
  if (form === 'b64_json') return { url: null, b64_json: found.bytes.toString('base64'), revised_prompt, media: null };
  const { id, url, size, mimeType } = await saved(found, revised_prompt ?? init.prompt, init);
  return { url, b64_json: null, revised_prompt, media: { id, url, size, mimeType } };
}

async function bytesOf(
  { b64_json, url }: ImageOutput,
  { host, settings, tried, signal }: DeliverInit,
): Promise<ImageBytes> {
  if (b64_json !== null) return decodedImage(b64_json);
  return tried((timeout) => fetchImage(url ?? '', { http: host.http, settings, timeout, signal }));
}

async function saved(
  { bytes, extension }: ImageBytes,
  description: string,
  { host, prompt, userId }: DeliverInit,
): Promise<Media> {
  const media = {
    bytes,
    name: `generated.${extension}`,
    title: shortened(prompt, 100),
    alt: shortened(description, 250),
    ...(userId > 0 && { authorId: userId }),
  };
  try {
    return await host.content.media.save(media);
  } catch (error) {
    host.log.error('A generated image could not be saved in the media library.', { error });
    const reason = error instanceof RestError ? error.message : 'The cause is in the log.';
    throw errors.media_not_saved({ values: { reason }, cause: error });
  }
}

function shortened(text: string, longest: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const characters = [...line];
  return characters.length > longest
    ? `${characters
        .slice(0, longest - 1)
        .join('')
        .trimEnd()}…`
    : line;
}
