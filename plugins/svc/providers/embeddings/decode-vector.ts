import { endianness } from 'node:os';
import { unreadableResponse } from '../provider-errors.ts';

const bytesPerNumber = 4;

/**
 * Decodes one vector of a response: an array of numbers, or base64 of little-endian 32-bit floats. The value decides, not
 * the request, because compatible servers may ignore the requested encoding (D11).
 *
 * @throws ProviderError `unreadable` for anything else. The items of an array are not checked.
 */
export function decodeVector(value: unknown): Float32Array | readonly number[] {
  if (Array.isArray(value)) return value as number[];
  if (typeof value === 'string') return decodeBase64(value);
  throw unreadableResponse('a vector that is neither numbers nor base64');
}

function decodeBase64(text: string): Float32Array {
  const size = decodedSize(text);
  if (size === 0 || size % bytesPerNumber !== 0) throw unreadableResponse('base64 that is not 32-bit numbers');
  const floats = new Float32Array(size / bytesPerNumber);
  const bytes = Buffer.from(floats.buffer);
  // Node skips invalid characters, so fewer bytes than expected mean invalid base64.
  if (bytes.write(text, 'base64') !== size) throw unreadableResponse('a vector that is neither numbers nor base64');
  if (endianness() === 'BE') bytes.swap32();
  return floats;
}

function decodedSize(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return Math.floor(((text.length - padding) * 3) / 4);
}
