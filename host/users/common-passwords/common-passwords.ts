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
 * characters; it repeats fewer than 12 characters, or counts up or down; or what remains without the person's own name and address
 * is shorter than 8 characters.
 */
export function isCommonPassword(password: string, own: readonly string[] = []): boolean {
  const core = trimNonLetters(password);
  if (isKnown(password) || (core.length * 2 >= password.length && isKnown(core))) return true;
  return repeatsFew(password) || countsOn(password) || isOwn(password, own);
}

/** Sequences such as 0123456789012, abcdefghijkl, 112233445566 and 135791357913: nearly all steps are the same, or at most 1. */
function countsOn(password: string): boolean {
  const codes = [...normalizePassword(password)].map((character) => character.codePointAt(0) ?? 0);
  const isNumber = /^\d+$/.test(password);
  const steps = codes.slice(1).map((code, index) => {
    const step = code - (codes[index] ?? 0);
    // After 9 comes 0.
    return isNumber ? ((step + 15) % 10) - 5 : step;
  });
  const jumps = steps.filter((step) => Math.abs(step) > 1).length;
  const turns = steps.filter((step, index) => index > 0 && step !== steps[index - 1]).length;
  return Math.min(jumps, turns) < 4;
}

/** @param own user name, address and names of the person */
function isOwn(password: string, own: readonly string[]): boolean {
  const words = own.flatMap((text) => [
    text,
    text.split('@', 1)[0] ?? '',
    text.replace(/^[^@]*@/, ''),
    ...text.split(/\W+/),
  ]);
  const known = [...new Set(words.map(normalizePassword))].filter((word) => word.length > 2);
  const rest = known
    .sort((left, right) => right.length - left.length)
    .reduce((text, word) => text.replaceAll(word, ''), normalizePassword(password));
  return rest.length < Math.min(8, password.length);
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

/** The shortest unit that a text repeats, at least twice; the last repetition may be cut off. */
function repeatsFew(text: string): boolean {
  const longest = Math.min(11, Math.floor(text.length / 2));
  return Array.from({ length: longest }, (_, index) => text.slice(index + 1)).some((rest) => text.startsWith(rest));
}
