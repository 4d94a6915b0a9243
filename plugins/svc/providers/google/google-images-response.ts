import { cleanMessage } from '../../kit/clean-message.ts';
import { unreadableResponse } from '../provider-errors.ts';
import { imageOutput } from '../images/images-response.ts';
import { isObject, listAt, objectAt, textAt, type JsonObject } from '../json.ts';
import { ProviderError, type ImageOutput, type ImageResult, type ProviderConnection } from '../provider.ts';
import { googleResponse, googleUsage } from './google-response.ts';

type Asked = { readonly model: string };

/**
 * Reads an answer of generateContent with images in it, thoughts left out.
 *
 * @throws ProviderError `rejected` when the prompt was blocked, the image withheld or words came instead, `unreadable` for
 * another shape.
 */
export function geminiImages(
  body: JsonObject,
  asked: Asked,
  connection: ProviderConnection,
): Omit<ImageResult, 'ignored'> {
  const images = listAt(body, 'candidates')
    .flatMap((candidate) => listAt(objectAt(candidate, 'content'), 'parts'))
    .map((part) => (isObject(part) && part['thought'] !== true ? imageOf(objectAt(part, 'inlineData'), 'data') : null))
    .filter((image) => image !== null);
  if (images.length > 0) {
    const usage = googleUsage(objectAt(body, 'usageMetadata'));
    return { images, usage: usage === null ? null : { ...usage }, model: textAt(body, 'modelVersion') ?? asked.model };
  }
  const { content } = googleResponse(body, asked, connection);
  const reason = textAt(listAt(body, 'candidates')[0], 'finishReason');
  if (content !== '')
    throw rejected(`it answered with words and no image: ${cleanMessage(content, connection.settings)}`);
  throw rejected(`there is no image in its answer (${reason ?? 'no reason given'}).`);
}

/**
 * Reads an answer of Imagen's predict. Images that were filtered are missing from it; their reason counts where none is left.
 *
 * @throws ProviderError `rejected` with Google's reason, `unreadable` for another shape.
 */
export function imagenImages(
  body: JsonObject,
  asked: Asked,
  connection: ProviderConnection,
): Omit<ImageResult, 'ignored'> {
  const predictions = listAt(body, 'predictions');
  const images = predictions
    .map((prediction) => imageOf(prediction, 'bytesBase64Encoded'))
    .filter((image) => image !== null);
  if (images.length > 0) return { images, usage: null, model: asked.model };
  const reason = predictions
    .map((prediction) => textAt(prediction, 'raiFilteredReason'))
    .find((found) => found !== null);
  if (reason !== undefined && reason !== null)
    throw rejected(`the images were withheld: ${cleanMessage(reason, connection.settings)}`);
  // An answer without a member at all is how Google says that every image was filtered.
  if (Object.keys(body).length === 0 || 'predictions' in body) throw rejected('its filters withheld every image.');
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

function rejected(message: string): ProviderError {
  return new ProviderError({ kind: 'rejected', status: 200, message });
}
