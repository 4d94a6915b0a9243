import { imageExtension } from './image-bytes.ts';
import type { MessageImage } from './system-text.ts';
import { invalid } from '../kit/read-members.ts';

/** What models read. */
const imageTypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};

/** @throws RestError 400 that names the parameter, for bytes that are no image that models read */
export function decodedImage(bytes: Uint8Array, name: string): MessageImage {
  return { bytes, mimeType: typeOf(bytes, name) };
}

function typeOf(beginning: Uint8Array, name: string): string {
  const mimeType = imageTypes[imageExtension(beginning) ?? ''];
  if (mimeType === undefined) throw invalid(name, 'must be a PNG, JPEG, GIF or WebP image.');
  return mimeType;
}

/**
 * The image of a `data:` URL. Its text is what vendors are sent: decoding and encoding megabytes would hold up other requests (D46).
 *
 * @throws RestError 400 that names the parameter, for anything but an image that models read, as base64
 */
export function dataImage(url: string, name: string): MessageImage {
  const comma = url.indexOf(',');
  const text = /;base64$/i.test(url.slice(0, comma)) ? url.slice(comma + 1) : '';
  const mimeType = typeOf(Buffer.from(text.slice(0, 100), 'base64'), name);
  // Vendors are stricter than what decodes it here: line breaks, the alphabet of URLs, no padding.
  const end = text.search(/[^A-Za-z0-9+/]/);
  const isPlain = text.length % 4 === 0 && (end < 0 || /^={1,2}$/.test(text.slice(end)));
  if (!isPlain) return { mimeType, bytes: Buffer.from(text, 'base64') };
  return {
    mimeType,
    base64: text,
    get bytes() {
      return Buffer.from(text, 'base64');
    },
  };
}
