import { endianness } from 'node:os';
import { unreadableResponse } from '../provider-errors.ts';

const bytesPerNumber = 4;

/**
 * One vector as a far end sends it: an array of numbers, or base64 of little-endian 32-bit floats. Which of the two is
 * for the value to say and not for what was asked: compatible servers answer floats whatever they were asked (D11).
 *
 * @throws ProviderError `unreadable` for anything else. What stands in an array is not looked at.
 */
export function decodeVector(value: unknown): Float32Array | readonly number[] {
  if (Array.isArray(value)) return value as number[];
  if (typeof value === 'string') return decodeBase64(value);
  throw unreadableResponse('a vector that is neither numbers nor base64');
}

function decodeBase64(text: string): Float32Array {
  const size = decodedSize(text);
  if (size === 0 || size % bytesPerNumber !== 0) throw unreadableResponse('base64 in it that holds no 32-bit numbers');
  const floats = new Float32Array(size / bytesPerNumber);
  const bytes = Buffer.from(floats.buffer);
  // Node skips what is no base64, so that fewer bytes come than the length promises.
  if (bytes.write(text, 'base64') !== size) throw unreadableResponse('a vector that is neither numbers nor base64');
  if (endianness() === 'BE') bytes.swap32();
  return floats;
}

function decodedSize(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return Math.floor(((text.length - padding) * 3) / 4);
}
