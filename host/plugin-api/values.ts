import { hash, timingSafeEqual } from 'node:crypto';

/** Whether a value is an object with members: neither null nor an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The members of a value, of which an object without any is taken for one that has none. */
export function asRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

/** Members that may be undefined, as optional ones. */
export type WithoutUndefined<Members> = {
  [Name in keyof Members as undefined extends Members[Name] ? never : Name]: Members[Name];
} & { [Name in keyof Members as undefined extends Members[Name] ? Name : never]?: Exclude<Members[Name], undefined> };

/** A copy of an object without the members that are undefined. */
export function withoutUndefined<Members extends object>(members: Members): WithoutUndefined<Members> {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as WithoutUndefined<Members>;
}

/** The message of a thrown value. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * The id that a query, a form or an argument names. 0: none.
 *
 * @param most the largest id that the column holds; PostgreSQL refuses to look for a larger one. Default: of type integer.
 */
export function parseId(given: unknown, most = 2 ** 31 - 1): number {
  const id = typeof given === 'string' && /^\d{1,15}$/.test(given) ? Number(given) : 0;
  return id <= most ? id : 0;
}

/** Compares secrets in constant time. Not even their lengths can be learned. */
export function isSameSecret(one: string | Uint8Array, other: string | Uint8Array): boolean {
  // Of as many bytes, as digests are, there is no length to learn.
  if (typeof one !== 'string' && typeof other !== 'string' && one.byteLength === other.byteLength)
    return timingSafeEqual(one, other);
  const digest = (secret: string | Uint8Array): Buffer => hash('sha256', secret, 'buffer');
  return timingSafeEqual(digest(one), digest(other));
}

/** Escapes a value as text for HTML content and quoted attributes. null and undefined become the empty text. */
export function escapeHtml(value: unknown): string {
  const text = String(value ?? '');
  if (!/[&<>"']/.test(text)) return text;
  // One character each: for long texts ten times as fast as one expression with a function.
  return text
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/"/g, '&quot;')
    .replace(/'/g, '&#039;');
}

/**
 * Whether two names differ by one letter that is missing, added or other, or by two letters that changed places.
 *
 * @param shortest length of `left`: many short names are near each other.
 */
export function isNear(left: string, right: string, shortest = 6): boolean {
  if (Math.abs(left.length - right.length) > 1 || left.length < shortest) return false;
  let start = 0;
  while (start < left.length && left[start] === right[start]) start += 1;
  let end = 0;
  while (end < Math.min(left.length, right.length) - start && left.at(-1 - end) === right.at(-1 - end)) end += 1;
  const [restOfLeft, restOfRight] = [left.slice(start, left.length - end), right.slice(start, right.length - end)];
  return (
    Math.max(restOfLeft.length, restOfRight.length) <= 1 ||
    (restOfLeft.length === 2 && restOfLeft[0] === restOfRight[1] && restOfLeft[1] === restOfRight[0])
  );
}

/**
 * Normalizes a text, in time in proportion to its length. `text.normalize` takes the square of a run of combining marks, which it
 * sorts: 80,000 of them stop the process for 1.4 seconds. Of a run only 30 are kept, as in the stream-safe format of Unicode (UAX
 * #15); no language has more than a few.
 */
export function normalizeText(text: string, form: 'NFC' | 'NFD' | 'NFKC' | 'NFKD'): string {
  // The last two become marks when decomposed, and are none before.
  return text.replace(/([\p{M}\uff9e\uff9f]{30})[\p{M}\uff9e\uff9f]+/gu, '$1').normalize(form);
}

/**
 * Removes the characters from the end of a text, in linear time. `/\/+$/` takes quadratic time: it reads a run of slashes
 * again from each of them.
 *
 * @param characters any of them is removed: `'-_'`. Characters beyond U+FFFF are not supported.
 */
export function trimTrailing(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** `/a/b//` -> `/a/b`. See {@link trimTrailing}. */
export function trimTrailingSlashes(text: string): string {
  return trimTrailing(text, '/');
}

/** `//a/b/` -> `a/b`. See {@link trimTrailing}. */
export function trimSlashes(text: string): string {
  return trimTrailingSlashes(text).replace(/^\/+/, '');
}
