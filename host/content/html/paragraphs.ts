import type { FoundShortcode, ShortcodeScanner } from '../shortcodes/scanner.ts';

/** Tags that cannot stand in a paragraph, and tags with meaningful line breaks. Text with one of them is HTML, not plain text. */
const blockTags = [
  ...[
    'address',
    'article',
    'aside',
    'audio',
    'blockquote',
    'canvas',
    'center',
    'dd',
    'details',
    'dialog',
    'div',
    'dl',
    'dt',
  ],
  ...[
    'fieldset',
    'figcaption',
    'figure',
    'footer',
    'form',
    'h[1-6]',
    'header',
    'hgroup',
    'hr',
    'iframe',
    'li',
    'main',
    'map',
  ],
  ...[
    'math',
    'menu',
    'nav',
    'noscript',
    'object',
    'ol',
    'p',
    'pre',
    'script',
    'search',
    'section',
    'select',
    'style',
    'svg',
  ],
  ...['table', 'tbody', 'td', 'textarea', 'tfoot', 'th', 'thead', 'tr', 'ul', 'video'],
];
const block = new RegExp(`<(?:!--|(?:${blockTags.join('|')})[\\s/>])`, 'i');

/**
 * Makes paragraphs of plain text, as `wpautop` of WordPress does: blank lines separate them, other line breaks become `<br>`.
 * Leaves text with block tags as it is, and everything inside tags and shortcodes; also a text of more lines than `maxLines`.
 */
export function addParagraphs(text: string, scan: ShortcodeScanner): string {
  if (text.trim() === '' || block.test(text) || hasTooManyLines(text)) return text;
  return withoutInnerBreaks(text.replace(/\r\n?/g, '\n'), scan)
    .split(/\n[\t ]*\n/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '')
    .map((paragraph) => `<p>${withBreaks(paragraph)}</p>\n`)
    .join('')
    .replaceAll(innerBreak, '\n');
}

/** Lines of a text that get tags (D46). */
export const maxLines = 50_000;

function hasTooManyLines(text: string): boolean {
  let lines = 1;
  for (const _break of text.matchAll(/\r\n?|\n/g)) if ((lines += 1) > maxLines) return true;
  return false;
}

/** Replaces a line break inside a tag or shortcode. Stored texts contain no NUL. */
const innerBreak = '\0';

function withoutInnerBreaks(text: string, scan: ShortcodeScanner): string {
  const parts: string[] = [];
  let last = 0;
  for (const { start, end } of scan(text)) {
    parts.push(withoutBreaksInTags(text.slice(last, start)), text.slice(start, end).replaceAll('\n', innerBreak));
    last = end;
  }
  return parts.join('') + withoutBreaksInTags(text.slice(last));
}

function withoutBreaksInTags(text: string): string {
  return text.replace(/<[a-z/][^<>]*>/gi, (tag) => tag.replaceAll('\n', innerBreak));
}

/** A line that ends with `<br>` needs no second one. */
function withBreaks(paragraph: string): string {
  if (!/<br/i.test(paragraph)) return paragraph.replaceAll('\n', '<br />\n');
  return paragraph
    .split('\n')
    .map((line, index, lines) =>
      index === lines.length - 1 || /<br\s*\/?>$/i.test(line.trimEnd()) ? line : `${line}<br />`,
    )
    .join('\n');
}

/**
 * Removes paragraphs that contain nothing but shortcodes, because their output may be a block, as `shortcode_unautop` of
 * WordPress does. A paragraph with attributes becomes a `div`, which keeps them.
 */
export function unwrapShortcodes(html: string, scan: ShortcodeScanner): string {
  const found = scan(html).filter(({ isEscaped }) => !isEscaped);
  if (found.length === 0) return html;
  /** Text before, between and after the shortcodes. */
  const texts = [...found, null].map((next, index) => html.slice(found[index - 1]?.end ?? 0, next?.start));
  for (const [first, last] of findRuns(found, texts)) unwrapRun(texts, first, last);
  return texts.map((text, index) => text + sourceOf(html, found[index])).join('');
}

function sourceOf(html: string, shortcode: FoundShortcode | undefined): string {
  return shortcode === undefined ? '' : html.slice(shortcode.start, shortcode.end);
}

/** Shortcodes with nothing between them but white space and line breaks, as the indexes of the first and the last. */
function findRuns(found: readonly FoundShortcode[], texts: readonly string[]): [number, number][] {
  const runs: [number, number][] = [];
  found.forEach((_shortcode, index) => {
    const run = runs.at(-1);
    const between = (texts[index] ?? '').replace(/<br\s*\/?>|&nbsp;/gi, '');
    if (run !== undefined && between.trim() === '') run[1] = index;
    else runs.push([index, index]);
  });
  return runs;
}

function unwrapRun(texts: string[], first: number, last: number): void {
  const [before, after] = [(texts[first] ?? '').trimEnd(), (texts[last + 1] ?? '').trimStart()];
  const start = before.lastIndexOf('<');
  const attributes = /^<p(\s[^<>]*)?>$/i.exec(before.slice(Math.max(0, start)));
  const closing = /^<\/p\s*>/i.exec(after);
  if (start < 0 || attributes === null || closing === null) return;
  const remaining = (attributes[1] ?? '').trim();
  texts[first] = before.slice(0, start) + (remaining === '' ? '' : `<div ${remaining}>`);
  texts[last + 1] = (remaining === '' ? '' : '</div>') + after.slice(closing[0].length);
}
