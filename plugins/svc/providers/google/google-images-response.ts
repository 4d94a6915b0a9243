import { isRecord } from '#plugin-api';
import { cleanMessage } from '../../kit/clean-message.ts';
import { unreadableResponse, refusedRequest } from '../provider-errors.ts';
import { imageOutput } from '../images/images-response.ts';
import { tokenDetails } from '../../kit/token-details.ts';
import { countAt, listAt, objectAt, textAt, type JsonObject } from '../json.ts';
import type { ImageOutput, ImageResult, ProviderConnection } from '../provider.ts';
import { googleResponse, googleTokenDetails, googleUsage } from './google-response.ts';

type RequestedModel = { readonly model: string };

/**
 * Reads the images of a generateContent response, without thoughts.
 *
 * @throws ProviderError `rejected` for a blocked prompt, a withheld image or text only, `unreadable` for another format.
 */
export function geminiImages(
  body: unknown,
  request: RequestedModel,
  connection: ProviderConnection,
): Omit<ImageResult, 'ignored'> {
  const images = listAt(body, 'candidates')
    .flatMap((candidate) => listAt(objectAt(candidate, 'content'), 'parts'))
    .map((part) => (isRecord(part) && part['thought'] !== true ? imageOf(objectAt(part, 'inlineData'), 'data') : null))
    .filter((image) => image !== null);
  if (images.length > 0) {
    const reported = objectAt(body, 'usageMetadata');
    const usage = googleUsage(reported);
    return {
      images,
      usage: usage === null ? null : { ...usage },
      // Without modalities, all that the model returned is an image: its thoughts are counted apart.
      tokenDetails: tokenDetails(usage, {
        image_output: countAt(reported, 'candidatesTokenCount'),
        ...googleTokenDetails(reported),
      }),
      model: textAt(body, 'modelVersion') ?? request.model,
    };
  }
  const { content } = googleResponse(body, request, connection);
  const reason = textAt(listAt(body, 'candidates')[0], 'finishReason');
  if (content !== '')
    throw refusedRequest(`it returned text and no image: ${cleanMessage(content, connection.settings)}`, 'refusal');
  throw refusedRequest(`its response has no image (${reason ?? 'no reason given'}).`);
}

/**
 * Reads a response of Imagen's predict. Filtered images are missing from it; their reason matters if none is left.
 *
 * @throws ProviderError `rejected` with Google's reason, `unreadable` for another format.
 */
export function imagenImages(
  body: JsonObject,
  request: RequestedModel,
  connection: ProviderConnection,
): Omit<ImageResult, 'ignored'> {
  const predictions = listAt(body, 'predictions');
  const images = predictions
    .map((prediction) => imageOf(prediction, 'bytesBase64Encoded'))
    .filter((image) => image !== null);
  if (images.length > 0) return { images, usage: null, model: request.model };
  const reason = predictions
    .map((prediction) => textAt(prediction, 'raiFilteredReason'))
    .find((found) => found !== null);
  if (reason !== undefined && reason !== null)
    throw refusedRequest(`the images were withheld: ${cleanMessage(reason, connection.settings)}`, 'content_filter');
  // Google returns an empty object if it filtered all images.
  if (Object.keys(body).length === 0 || 'predictions' in body)
    throw refusedRequest('its filters withheld every image.', 'content_filter');
  throw unreadableResponse('no predictions in it');
}

function imageOf(holder: unknown, member: 'data' | 'bytesBase64Encoded'): ImageOutput | null {
  return imageOutput({
    url: null,
    b64_json: textAt(holder, member),
    revised_prompt: textAt(holder, 'prompt'),
    mimeType: textAt(holder, 'mimeType'),
  });
}
