import { declaredInXml, decoderOf, decodeText, type DecodeInit } from './decode-text.ts';

/** Bytes of a document from which its encoding is guessed. */
const guessedBytes = 65_536;
/** Below it, a guess is right less often than Windows-1252 is. */
const leastConfidence = 0.3;
/** Names of jschardet that browsers do not know. */
const otherNames: Readonly<Record<string, string>> = {
  macroman: 'macintosh',
  'utf-16-le': 'utf-16le',
  'utf-16-be': 'utf-16be',
};

/** The text of a document. Where nothing names its encoding and it is not UTF-8, the encoding is guessed from the bytes. */
export async function readUnnamedText(bytes: Uint8Array, init: DecodeInit): Promise<string> {
  const { text, isGuess } = decodeText(bytes, init);
  if (!isGuess) return text;
  const { detect } = await import('jschardet');
  const { encoding, confidence } = detect(bytes.subarray(0, guessedBytes));
  const name = encoding?.toLowerCase() ?? '';
  const decoder = confidence < leastConfidence ? null : decoderOf(otherNames[name] ?? name);
  return decoder === null ? text : decoder.decode(bytes);
}

/** The encoding that HTML names in its first bytes. */
export const declaredInHtml = (head: string): string | undefined =>
  /<meta[^>]+charset\s*=\s*["']?([\w-]+)/i.exec(head)?.[1] ?? declaredInXml(head);
