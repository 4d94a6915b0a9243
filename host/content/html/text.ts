import { normalizeText } from '#plugin-api';

const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  hellip: '…',
};

/** The visible text of HTML on one line. */
export function htmlToText(html: string): string {
  const bare = html
    .replace(/<!--[\s\S]*?(?:-->|$)/g, '')
    .replace(/<(script|style)\b[\s\S]*?(?:<\/\1\s*>|$)/gi, '')
    .replace(/<\/?[a-z][^>]*(?:>|$)/gi, (tag) =>
      /^<\/?(?:b|i|u|a|em|strong|span|code|sub|sup|small|mark|kbd|abbr)\b/i.test(tag) ? '' : ' ',
    );
  // First what is frequent, in passes for one character, so that few matches are left for the expression.
  return decodeEntities(bare)
    .replace(/\n/g, ' ')
    .replace(/\t/g, ' ')
    .replace(/\s{2,}|[^\S ]/g, ' ')
    .trim();
}

function decodeEntities(text: string): string {
  return text.replace(/&(?:#\d{1,7}|#x[\da-f]{1,6}|\w{2,8});/gi, (entity) => {
    const name = entity.slice(1, -1).toLowerCase();
    if (!name.startsWith('#')) return named[name] ?? entity;
    const code = name.startsWith('#x') ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : entity;
  });
}

/** Folds case and accents for comparison, so that `cafe` finds `Café`. */
export function foldText(text: string): string {
  return normalizeText(
    normalizeText(text, 'NFKD')
      .replace(/[\u0300-\u036f]+/g, '')
      .toLowerCase(),
    'NFC',
  );
}
