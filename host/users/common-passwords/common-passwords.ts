import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { normalizeText } from '#plugin-api';

let prefixes: Buffer | null = null;

/** The list: sorted 32-bit prefixes in big-endian order. Read at first use, because most processes never need it. */
function readPrefixes(): Buffer {
  return (prefixes ??= readFileSync(new URL('common-passwords.bin', import.meta.url)));
}

/** The form in which passwords are compared: case and compatibility characters make no difference. */
export function normalizePassword(password: string): string {
  return normalizeText(password, 'NFKC').toLowerCase();
}

/** The first 32 bits of the SHA-256 of a normalized password. */
export function passwordPrefix(normalized: string): number {
  return createHash('sha256').update(normalized).digest().readUInt32BE(0);
}

/** Whether the list has this password. Of others, about 1 in 30,000 shares a prefix and is found too. */
export function isListed(password: string): boolean {
  const list = readPrefixes();
  const wanted = passwordPrefix(normalizePassword(password));
  let [low, high] = [0, list.length / 4];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (list.readUInt32BE(middle * 4) < wanted) low = middle + 1;
    else high = middle;
  }
  return low < list.length / 4 && list.readUInt32BE(low * 4) === wanted;
}

/**
 * Whether a password is easy to guess: it is on the list of passwords from data breaches, it is such a password with digits
 * and signs around it, at most as many as it has characters, or it repeats fewer than 12 characters.
 */
export function isCommonPassword(password: string): boolean {
  const core = trimNonLetters(password);
  return isListed(password) || (core.length * 2 >= password.length && isListed(core)) || repeatsFew(password);
}

function trimNonLetters(text: string): string {
  const isLetter = (character: string | undefined): boolean => character !== undefined && /\p{L}/u.test(character);
  let [start, end] = [0, text.length];
  while (start < end && !isLetter(text[start])) start += 1;
  while (end > start && !isLetter(text[end - 1])) end -= 1;
  return text.slice(start, end);
}

/** A text that repeats a unit contains itself when doubled, before its own end. */
function repeatsFew(text: string): boolean {
  const unit = (text + text).indexOf(text, 1);
  return unit < text.length && unit < 12;
}
