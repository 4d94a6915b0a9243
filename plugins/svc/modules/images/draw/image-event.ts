import type { HostApi } from '#plugin-api';
import type { EventData } from '../../../kit/define-event.ts';
import type { imageGeneratedEvent } from '../image-generated.event.ts';
import type { StoredImage } from '../store/image.ts';

/**
 * Sends `image.generated` of the images of one request (contract 6.5, D17 to D19): once, as the request is its key. Inside
 * a transaction it is stored with what it tells of.
 */
export async function sendImageEvent(host: Pick<HostApi, 'hooks'>, images: readonly StoredImage[]): Promise<void> {
  const [image] = images;
  if (image === undefined) return;
  const { request, prompt, provider, model, mode, origin, usage, userId } = image;
  const data = {
    prompt,
    provider,
    model,
    mode,
    media_type: 'image',
    output_count: images.length,
    outputs: {
      images: images.map(({ url, mediaId, bytes, mimeType, revisedPrompt }) => ({
        media_id: mediaId,
        url,
        size: bytes,
        mime_type: mimeType,
        revised_prompt: revisedPrompt,
      })),
      videos: [],
    },
    usage,
    actor: userId > 0 ? { type: 'user', user_id: userId } : { type: 'guest' },
  } satisfies EventData<typeof imageGeneratedEvent>;
  await host.hooks.doActionAsync('svc_event_emit', 'image.generated', data, {
    origin,
    key: [request],
    resource: { id: request, label: [...prompt].slice(0, 100).join('') },
  });
}
