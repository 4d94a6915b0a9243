import type { EditorView } from '@tiptap/pm/view';
import { plainTags } from './canonical.ts';
import { parse, styleAttribute } from './dom.ts';
import { asRaw } from './schema.ts';

const markdown = [
  /^(?:#{1,6} |[-*+] |\d{1,3}[.)] |> |```|\|.*\|)/m,
  /\*\*[^*\n]+\*\*/,
  /\[[^\][\n]+\]\([^()\s]+\)/,
  /`[^`\n]+`/,
];

/** Inserts pasted Markdown as what it means. False: the text is not Markdown, or has a better form in the clipboard. */
export function pasteMarkdown(view: EditorView, { clipboardData }: ClipboardEvent): boolean {
  const text = clipboardData?.getData('text/plain') ?? '';
  if (clipboardData?.types.includes('text/html') !== false || !markdown.some((pattern) => pattern.test(text)))
    return false;
  if (view.state.selection.$from.parent.type.spec.code) return false;
  void convert(text).then(
    (html) => view.pasteHTML(html),
    () => view.pasteText(text),
  );
  return true;
}

/** Loads the parser on first use. */
async function convert(text: string): Promise<string> {
  const url = document.querySelector<HTMLElement>('[data-markdown]')?.dataset['markdown'] ?? '';
  const { marked } = (await import(url)) as typeof import('marked');
  return marked.parse(text, { async: false, gfm: true });
}

const pastedAttributes = new Set([
  'href',
  'src',
  'alt',
  'title',
  'width',
  'height',
  'start',
  'colspan',
  'rowspan',
  'cite',
]);
const tableTags = ['table', 'caption', 'thead', 'tbody', 'tfoot', 'tr', 'th', 'td'];
const textTags = ['a', 'b', 'strong', 'i', 'em', 's', 'code', 'br', 'p', ...plainTags];

/**
 * Pasted HTML without the styles, classes and wrappers of word processors. The schema takes no more than it knows from the
 * rest. Tables become raw nodes.
 */
export function cleanPasted(html: string): string {
  if (html.includes('data-pm-slice')) return html;
  const content = parse(html);
  for (const element of content.querySelectorAll('script, style, meta, title, link, head')) element.remove();
  for (const element of content.querySelectorAll('b, span, font')) {
    const style = element.getAttribute(styleAttribute) ?? '';
    const isBold = /font-weight:\s*(?:bold|[6-9]00)/.test(style);
    const isItalic = /font-style:\s*italic/.test(style);
    if (element.localName === 'b' && !/font-weight:\s*normal/.test(style)) continue;
    rewrap(element, [...(isBold ? ['strong'] : []), ...(isItalic ? ['em'] : [])]);
  }
  for (const element of content.querySelectorAll('*'))
    for (const { name } of [...element.attributes]) if (!pastedAttributes.has(name)) element.removeAttribute(name);
  for (const table of content.querySelectorAll('table')) {
    if (table.parentElement?.closest('table')) continue;
    for (const inner of [...table.querySelectorAll('*')])
      if (![...tableTags, ...textTags].includes(inner.localName)) inner.replaceWith(...inner.childNodes);
    for (const link of table.querySelectorAll('a[href]'))
      if (!/^(?:https?:|mailto:|[/#?])/i.test(link.getAttribute('href') ?? '')) link.removeAttribute('href');
    table.replaceWith(asRaw(table.outerHTML));
  }
  return content.innerHTML;
}

/** Replaces an element by others around its content. */
function rewrap(element: Element, tags: readonly string[]): void {
  const { ownerDocument } = element;
  const content = ownerDocument.createDocumentFragment();
  content.append(...element.childNodes);
  const wrapped = tags.reduce<Node>((inner, tag) => {
    const outer = ownerDocument.createElement(tag);
    outer.append(inner);
    return outer;
  }, content);
  element.replaceWith(wrapped);
}
