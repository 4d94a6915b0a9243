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

/** Phrases that everybody knows, so that lists of guesses have them: examples of good passwords, quotations, pangrams. Without blanks. */
const knownPhrases = new Set(
  (
    'correcthorsebatterystaple horsebatterystaple staplehorsebatterycorrect troubadour3 diceware thequickbrownfox ' +
    'thequickbrownfoxjumps thequickbrownfoxjumpsoverthelazydog jumpsoverthelazydog loremipsum loremipsumdolorsitamet tobeornottobe ' +
    'tobeornottobethatisthequestion maytheforcebewithyou iamyourfather onceuponatime openthepodbaydoorshal winteriscoming ' +
    'onceuponatimeinagalaxyfarfaraway helloworld hellomyname iloveyousomuch iloveyouforever letmeinplease imgonnamakehimanoffer ' +
    'nevergonnagiveyouup nevergonnaletyoudown allyourbasearebelongtous thecakeisalie thisismypassword thisisapassword ' +
    'mypasswordispassword passwordpassword changemeplease pleasechangeme supersecretpassword mysecretpassword ' +
    'fourscoreandsevenyearsago wethepeople inthebeginning godsavethequeen theanswerisfortytwo youshallnotpass ' +
    'elementarymydearwatson heresjohnny houstonwehaveaproblem showmethemoney itsatrap donttellanyone'
  ).split(' '),
);

/**
 * Whether a password is easy to guess: it is on the list of passwords from data breaches or a phrase that everybody knows, also with
 * blanks and signs between its words; it is such a password with digits and signs around it, at most as many as it has
 * characters; or it repeats fewer than 12 characters.
 */
export function isCommonPassword(password: string): boolean {
  const core = trimNonLetters(password);
  return isKnown(password) || (core.length * 2 >= password.length && isKnown(core)) || repeatsFew(password);
}

function isKnown(password: string): boolean {
  const joined = normalizePassword(password).replace(/[^\p{L}\p{N}]+/gu, '');
  return isListed(password) || isListed(joined) || knownPhrases.has(joined);
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
