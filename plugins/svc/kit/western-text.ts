/** Characters that are looked at. */
const sampleLength = 100_000;
/** Largest share of characters beyond ASCII that no Western text has. */
const maxStrange = 0.25;
const beyondAscii = /[^\0-\x7f]/g;
/**
 * What other encodings look like in Windows-1252: three characters beyond ASCII in a row, signs inside words or before them, signs
 * that hardly anybody writes, and control characters.
 */
const strange =
  /[^\0-\x7f\s–—…·’‘“”«»]{3,}|(?<=\p{L})[¡-¬®-´¶¸-¿×÷‚„•‹›“”™](?=\p{L})|[²³¹´¸¼-¾](?=\p{L})|[†‡‰ƒ¦¨¬¯¶¸ˆ˜]|[\x80-\x9f]/gu;

/** Whether a text that was decoded as Windows-1252 can be in a Western language. */
export function isWestern(text: string): boolean {
  const sample = text.slice(0, sampleLength);
  const all = sample.match(beyondAscii)?.length ?? 0;
  const odd = (sample.match(strange) ?? []).reduce((sum, found) => sum + found.length, 0);
  return odd < 2 || odd <= all * maxStrange;
}

/** The text in ISO-8859-15, if it has `œ` or `€` where Windows-1252 has `½` or `¤`; null otherwise. */
export function latin9Of(bytes: Uint8Array, text: string): string | null {
  // Its control characters are letters and quotes of Windows-1252.
  if (bytes.some((byte) => byte >= 0x80 && byte <= 0x9f)) return null;
  return /\p{L}[¼½]\p{L}|\d ?¤/u.test(text) ? new TextDecoder('iso-8859-15').decode(bytes) : null;
}
