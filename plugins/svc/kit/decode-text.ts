/** Bytes in which a document may name its encoding. */
const headBytes = 4_096;

export interface DecodeInit {
  /** `charset` of the header `Content-Type`. */
  readonly charset?: string | undefined;
  /** Returns the encoding that the document names itself. @param head its first 4,096 bytes as Latin-1 */
  readonly declared: (head: string) => string | undefined;
}

export interface DecodedText {
  readonly text: string;
  /** The encoding that was named and that nothing here reads: the text is a guess, or empty. */
  readonly unknown: string | null;
  /** Whether nothing names the encoding, and the bytes are not UTF-8. */
  readonly isGuess: boolean;
}

/**
 * Decodes by byte order mark or the zeros of UTF-16 and UTF-32, then by header, then as the document says; without any, or if
 * what they name is unknown, UTF-8 if the bytes are valid and Windows-1252 otherwise.
 */
export function decodeText(bytes: Uint8Array, { charset, declared }: DecodeInit): DecodedText {
  const marked = markedEncoding(bytes);
  if (marked === 'utf-32') return { text: '', unknown: 'UTF-32', isGuess: false };
  if (marked !== null) return { text: new TextDecoder(marked).decode(bytes), unknown: null, isGuess: false };
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, headBytes)).toString('latin1');
  let unknown: string | null = null;
  for (const name of [charset, declared(head)]) {
    if (name === undefined || name === '') continue;
    // Bytes without zeros are not UTF-16, whatever is named.
    const decoder = /^(?:utf-?16|ucs-?2|iso-10646)/i.test(name) ? null : decoderOf(name);
    if (decoder === null) unknown ??= name;
    else if (decoder.encoding !== 'utf-8') return { text: decoder.decode(bytes), unknown: null, isGuess: false };
  }
  const text = decodeUtf8(bytes);
  return text === null || text.slice(0, headBytes).includes('\0')
    ? { text: new TextDecoder('windows-1252').decode(bytes), unknown, isGuess: true }
    : { text, unknown: null, isGuess: false };
}

/** The encoding that XML names in its declaration. @param head the first bytes as Latin-1 */
export const declaredInXml = (head: string): string | undefined =>
  /^\s*<\?xml[^>]*\bencoding\s*=\s*["']([\w.:-]+)["']/.exec(head)?.[1];

/** The `charset` of a content type; undefined without one. */
export function charsetOf(contentType: string | undefined): string | undefined {
  return /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType ?? '')?.[1];
}

/** Null for a name that is unknown. */
export function decoderOf(name: string): InstanceType<typeof TextDecoder> | null {
  try {
    return new TextDecoder(name);
  } catch {
    return null;
  }
}

function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** By the mark at the beginning, or by the zeros of the first two characters, which are ASCII in markup. */
function markedEncoding([first, second, third, fourth]: Uint8Array):
  'utf-8' | 'utf-16le' | 'utf-16be' | 'utf-32' | null {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xff && second === 0xfe) return third === 0 && fourth === 0 ? 'utf-32' : 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (first === 0 && second === 0 && third === 0 && isAscii(fourth)) return 'utf-32';
  if (first === 0 && isAscii(second) && third === 0 && isAscii(fourth)) return 'utf-16be';
  if (!isAscii(first) || second !== 0) return null;
  if (third === 0 && fourth === 0) return 'utf-32';
  return isAscii(third) && fourth === 0 ? 'utf-16le' : null;
}

/** References such as `&#146;` mean the characters of Windows-1252, not the control characters of Unicode, as in browsers. */
export function repairControls(text: string): string {
  return text.replace(/[\u0080-\u009f]/g, (character) =>
    new TextDecoder('windows-1252').decode(Uint8Array.of(character.charCodeAt(0))),
  );
}

/** Whether a byte is white space or a printable character of ASCII. */
const isAscii = (byte: number | undefined): boolean => byte !== undefined && byte >= 9 && byte <= 126;
