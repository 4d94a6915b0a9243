/**
 * Whether `new URL(text, base)` would answer an address. In place of `URL.canParse`, which in Node 20 takes texts with
 * letters such as `ü` for no addresses once it has been called often enough to be optimised.
 */
export function isUrl(text: string, base?: string | URL): boolean {
  try {
    return new URL(text, base) !== null;
  } catch {
    return false;
  }
}
