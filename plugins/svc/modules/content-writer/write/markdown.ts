import type { IOptions } from 'sanitize-html';

/** What a text may consist of. No images, which would tell others who reads it, no styles, no classes, no forms. */
const allowed: IOptions = {
  allowedTags: [
    'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'br', 'hr', 'strong', 'b', 'em', 'i', 'u', 's', 'del', 'ins', 'mark', 'small', 'sub', 'sup', 'abbr', 'cite', 'q', 'code', 'kbd', 'pre',
    'blockquote', 'ul', 'ol', 'li', 'dl', 'dt', 'dd', 'a', 'table', 'caption', 'thead', 'tbody', 'tfoot', 'tr', 'th', 'td', 'figure', 'figcaption', 'details', 'summary',
  ],
  allowedAttributes: { a: ['href', 'title'], ol: ['start'], th: ['colspan', 'rowspan', 'scope'], td: ['colspan', 'rowspan'], abbr: ['title'] },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowProtocolRelative: false,
  // Headings of a text stand below the title of its page.
  transformTags: { h1: 'h2' },
};

/**
 * Markdown that a model wrote as clean HTML. The model may have been told what to write by a page that it read, so that its
 * text is trusted with nothing, whoever asked for it: tags that do something go, and shortcodes stay text.
 */
export async function htmlOfMarkdown(markdown: string): Promise<string> {
  const [{ Marked }, { default: sanitise }] = await Promise.all([import('marked'), import('sanitize-html')]);
  const html = await new Marked({ gfm: true, breaks: false, async: true }).parse(markdown);
  return sanitise(html, allowed).replaceAll('[', '&#91;').trim();
}
