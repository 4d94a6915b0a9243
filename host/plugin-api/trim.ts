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
