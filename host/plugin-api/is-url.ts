/**
 * Whether `new URL(text, base)` succeeds. Replaces `URL.canParse`, which in Node 20 rejects text with letters such as `ü`
 * once the engine has optimized it.
 */
export function isUrl(text: string, base?: string | URL): boolean {
  try {
    return new URL(text, base) !== null;
  } catch {
    return false;
  }
}
