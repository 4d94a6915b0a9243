import { DocumentError } from '#plugin-api';
import { declaredInXml, decoderOf, decodeText, type DecodeInit } from './decode-text.ts';
import { isWestern, latin9Of } from './western-text.ts';

/** Bytes of a document from which its encoding is guessed. */
const guessedBytes = 65_536;
/** From `sure` on, a guess is right more often than Windows-1252 is; below `least`, nothing is known. */
const confidences = { sure: 0.3, least: 0.1 };
/** Names of jschardet that browsers do not know. */
const otherNames: Readonly<Record<string, string>> = {
  macroman: 'macintosh',
  'utf-16-le': 'utf-16le',
  'utf-16-be': 'utf-16be',
  cp932: 'shift_jis',
  shift_jis_2004: 'shift_jis',
  'shift-jis-2004': 'shift_jis',
  'euc-jis-2004': 'euc-jp',
  cp949: 'euc-kr',
  'big5-hkscs': 'big5',
};
/** Encodings with two bytes for a character: few texts of others are valid in them. */
const doubleBytes = new Set(['shift_jis', 'euc-jp', 'euc-kr', 'big5', 'gb18030', 'gbk']);

/**
 * The text of a document. Where nothing names its encoding and it is not UTF-8, the encoding is guessed from the bytes.
 *
 * @throws DocumentError where no guess makes sense: wrong letters would be worse than none
 */
export async function readUnnamedText(bytes: Uint8Array, init: DecodeInit): Promise<string> {
  const { text, isGuess } = decodeText(bytes, init);
  if (!isGuess) return text;
  const { detect } = await import('jschardet');
  const { encoding, confidence } = detect(bytes.subarray(0, guessedBytes));
  const name = encoding?.toLowerCase() ?? '';
  const decoder = decoderOf(otherNames[name] ?? name);
  const isSure = decoder !== null && confidence >= confidences.sure;
  if (isSure && decoder.encoding !== 'windows-1252') return decoder.decode(bytes);
  if (isSure || isWestern(text)) return latin9Of(bytes, text) ?? text;
  const isLikely = decoder !== null && (confidence >= confidences.least || doubleBytes.has(decoder.encoding));
  const guess = isLikely ? decoder.decode(bytes) : null;
  if (guess === null || guess.includes('\ufffd'))
    throw new DocumentError('The encoding of this file is not clear. Save it as UTF-8.');
  return guess;
}

/** The encoding that HTML names in its first bytes. */
export const declaredInHtml = (head: string): string | undefined =>
  /<meta[^>]+charset\s*=\s*["']?([\w-]+)/i.exec(head)?.[1] ?? declaredInXml(head);
