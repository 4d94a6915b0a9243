/**
 * Whether the text is one email address of at most 254 characters. It has no display name, no spaces, no control characters
 * and nothing else that could end a header or begin a second address.
 */
export function isEmail(text: string): boolean {
  return text.length <= 254 && /^[^\s@<>"'(),;:\\[\]\p{Cc}]+@[^\s@<>"'(),;:\\[\]\p{Cc}]+$/u.test(text);
}

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
