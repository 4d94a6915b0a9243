import type { ShortcodeAttributes } from '#plugin-api';

/** `name="v"`, `name='v'`, `name=v`, `"v"`, `'v'` or a bare word, each up to white space. Whatever else begins with a name is a bare word. */
const attribute =
  /(?:(?<name>[\w-]+)\s*=\s*(?:"(?<double>[^"]*)"|'(?<single>[^']*)'|(?<plain>[^\s'"]+))|"(?<lone>[^"]*)"|'(?<quoted>[^']*)'|(?<word>\S+))(?=\s|$)/g;

/**
 * Attributes as WordPress reads them: names in lower case, values without names counted from 0. A value with a broken HTML
 * tag in it is emptied, because it could swallow what follows on the page.
 */
export function readAttributes(text: string): ShortcodeAttributes {
  const attributes: Record<string, string> = {};
  let position = 0;
  for (const { groups = {} } of text.replace(/[\u00a0\u200b]/g, ' ').matchAll(attribute)) {
    const { name, double, single, plain, lone, quoted, word } = groups;
    const value = withWholeTags(double ?? single ?? plain ?? lone ?? quoted ?? word ?? '');
    const key = name === undefined ? String(position++) : name.toLowerCase();
    // `__proto__` is a name like any other.
    Object.defineProperty(attributes, key, { value, enumerable: true, configurable: true, writable: true });
  }
  return attributes;
}

function withWholeTags(value: string): string {
  return !value.includes('<') || /^[^<]*(?:<[^>]*>[^<]*)*$/.test(value) ? value : '';
}
