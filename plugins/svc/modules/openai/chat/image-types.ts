import { imageExtension } from '../../../ai/image-bytes.ts';
import type { MessageImage } from '../../../ai/system-text.ts';
import { invalid } from '../read-params.ts';

/** What models read. */
const imageTypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};

/** @throws RestError 400 that names the parameter, for bytes that are no image that models read */
export function decodedImage(bytes: Uint8Array, name: string): MessageImage {
  const mimeType = imageTypes[imageExtension(bytes) ?? ''];
  if (mimeType === undefined) throw invalid(name, 'must be a PNG, JPEG, GIF or WebP image.');
  return { bytes, mimeType };
}
