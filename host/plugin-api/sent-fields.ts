import { isUtf8 } from 'node:buffer';
import { decodeUtf8, markBroken } from './stored-text.ts';

/**
 * Decodes `%` escapes. Incomplete ones stay as they are.
 *
 * @returns null for bytes that are not UTF-8
 */
export function decodeEscapes(text: string): string | null {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    try {
      return decodeURIComponent(text.replace(/%(?![0-9a-fA-F]{2})/g, '%25'));
    } catch {
      return null;
    }
  }
}

/**
 * The fields of a query or of a URL-encoded body, as `URLSearchParams` reads them, but for bytes that are not UTF-8: these are
 * marked, so that the border for text refuses the field (D54).
 */
export function readSentFields(encoded: string | Uint8Array): [name: string, value: string][] {
  const text = typeof encoded === 'string' ? encoded : readBytes(encoded);
  if (decodeEscapes(text) !== null) return [...new URLSearchParams(text)];
  return text
    .replace(/^\?/, '')
    .split('&')
    .flatMap((part) => {
      const equals = part.indexOf('=');
      const [name, value] = equals < 0 ? [part, ''] : [part.slice(0, equals), part.slice(equals + 1)];
      return part === '' ? [] : [[decodePart(name), decodePart(value)] as [string, string]];
    });
}

/** The text of a URL-encoded body. Bytes that are not UTF-8 are escaped. */
export function readBytes(body: Uint8Array): string {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (isUtf8(bytes)) return bytes.toString();
  return bytes.toString('latin1').replace(/[\x80-\xff]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
}

function decodePart(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  return decodeEscapes(spaced) ?? markBroken([...new URLSearchParams(`x=${text}`).values()][0] ?? '');
}

/** Reads the fields of a multipart form that `busboy` parses with the charset `latin1`, which loses no byte. */
export interface MultipartFields {
  /** Notes a piece of the body, before its fields are read. */
  see(chunk: Uint8Array): void;
  /** The text of a value, marked where it is not UTF-8, so that the border for text refuses it (D54). */
  read(value: string): string;
}

/** Fields whose part names a charset are decoded by `busboy`, so what is no UTF-8 then may be right. */
export function createMultipartFields(): MultipartFields {
  let namesCharset = false;
  return {
    see(chunk) {
      namesCharset ||= Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).includes('charset=');
    },
    read(value) {
      if (/[^\x00-\xff]/.test(value)) return value;
      const bytes = Buffer.from(value, 'latin1');
      return namesCharset && !isUtf8(bytes) ? value : decodeUtf8(bytes);
    },
  };
}
