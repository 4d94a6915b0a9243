import { isRecord, isUrl } from '#plugin-api';
import { unreadableResponse } from '../provider-errors.ts';
import { tokenDetails } from '../../kit/token-details.ts';
import { countAt, objectAt, textAt, type JsonObject } from '../json.ts';
import type { ImageOutput, ImageResult, ReportedUsage } from '../provider.ts';

/**
 * Reads a response of `POST /images/generations`.
 *
 * @throws ProviderError `unreadable` without an image.
 */
export function imagesResponse(body: JsonObject, request: { readonly model: string }): Omit<ImageResult, 'ignored'> {
  if (!Array.isArray(body['data'])) throw unreadableResponse('no list of images in it');
  const format = textAt(body, 'output_format');
  const images = body['data']
    .map((entry: unknown) => {
      const mimeType = textAt(entry, 'mime_type') ?? (format === null ? null : `image/${format}`);
      return imageOutput({
        b64_json: textAt(entry, 'b64_json'),
        url: textAt(entry, 'url'),
        revised_prompt: textAt(entry, 'revised_prompt'),
        mimeType,
      });
    })
    .filter((image) => image !== null);
  if (images.length === 0) throw unreadableResponse('no image in it');
  const usage = body['usage'];
  return {
    images,
    usage: isRecord(usage) && Object.keys(usage).length > 0 ? usage : null,
    model: textAt(body, 'model') ?? request.model,
  };
}

/** An image with a web URL or base64, also from a `data:` URL; null without either. */
export function imageOutput(given: ImageOutput): ImageOutput | null {
  const data = /^data:([\w.+-]+\/[\w.+-]+)?(?:;[\w=-]+)*;base64,\s*/i.exec(given.b64_json ?? given.url ?? '');
  if (data !== null) {
    const b64_json = (given.b64_json ?? given.url ?? '').slice(data[0].length);
    return b64_json === '' ? null : { ...given, url: null, b64_json, mimeType: data[1] ?? given.mimeType };
  }
  const url = given.url !== null && /^https?:\/\//i.test(given.url) && isUrl(given.url) ? given.url : null;
  return url === null && given.b64_json === null ? null : { ...given, url };
}

/** What a response reports of its usage, in OpenAI's format for images. */
export function imageReport(usage: unknown): ReportedUsage {
  const [input, output] = [countAt(usage, 'input_tokens'), countAt(usage, 'output_tokens')];
  if (input === null && output === null) return { usage: null };
  const counts = { input_tokens: input ?? 0, output_tokens: output ?? 0 };
  const details = [objectAt(usage, 'input_tokens_details'), objectAt(usage, 'output_tokens_details')] as const;
  return {
    usage: { ...counts, total_tokens: counts.input_tokens + counts.output_tokens },
    tokenDetails: tokenDetails(counts, {
      cached_input: countAt(details[0], 'cached_tokens'),
      image_input: countAt(details[0], 'image_tokens'),
      image_output: countAt(details[1], 'image_tokens'),
    }),
  };
}
