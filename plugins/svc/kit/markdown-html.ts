import type { IOptions } from 'sanitize-html';

/** What a text may consist of. No images, which would tell others who reads it, no styles, no classes, no forms. */
const allowed: IOptions = {
  allowedTags: [
    'h1',
    'h2',
    'h3',
    'h4',
    'h5',
    'h6',
    'p',
    'br',
    'hr',
    'strong',
    'b',
    'em',
    'i',
    'u',
    's',
    'del',
    'ins',
    'mark',
    'small',
    'sub',
    'sup',
    'abbr',
    'cite',
    'q',
    'code',
    'kbd',
    'pre',
    'blockquote',
    'ul',
    'ol',
    'li',
    'dl',
    'dt',
    'dd',
    'a',
    'table',
    'caption',
    'thead',
    'tbody',
    'tfoot',
    'tr',
    'th',
    'td',
    'figure',
    'figcaption',
    'details',
    'summary',
    'img',
  ],
  allowedAttributes: {
    a: ['href', 'title'],
    ol: ['start'],
    th: ['colspan', 'rowspan', 'scope'],
    td: ['colspan', 'rowspan'],
    abbr: ['title'],
    img: ['src', 'alt', 'width', 'height'],
  },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowProtocolRelative: false,
  // Headings of a text stand below the title of its page.
  transformTags: { h1: 'h2' },
};

/** What of a post that is rewritten may stay in it: there it was looked after by its author. */
export interface PreservedMarkup {
  /** Addresses of images. */
  readonly images: ReadonlySet<string>;
  /** Whole shortcodes, `[gallery ids="1,2"]`. */
  readonly shortcodes: readonly string[];
}

const nothing: PreservedMarkup = { images: new Set(), shortcodes: [] };

/**
 * Markdown that a model wrote as clean HTML. The model may have been told what to write by a page that it read, so that its
 * text is trusted with nothing, whoever asked for it: tags that do something go, images too, and shortcodes stay text.
 */
export async function markdownToHtml(markdown: string, kept: PreservedMarkup = nothing): Promise<string> {
  const [{ Marked }, { default: sanitise }] = await Promise.all([import('marked'), import('sanitize-html')]);
  const html = await new Marked({ gfm: true, breaks: false, async: true }).parse(markdown);
  const clean = sanitise(html, {
    ...allowed,
    exclusiveFilter: ({ tag, attribs }) => tag === 'img' && !kept.images.has(attribs['src'] ?? ''),
  });
  return kept.shortcodes
    .reduce((text, shortcode) => withShortcode(text, shortcode), clean.replaceAll('[', '&#91;'))
    .trim();
}

/** Markdown and the cleaning may have written its quotation marks as entities. */
function withShortcode(html: string, shortcode: string): string {
  const inside = shortcode.slice(1);
  return [inside, inside.replaceAll('"', '&quot;')].reduce(
    (text, written) => text.replaceAll(`&#91;${written}`, shortcode),
    html,
  );
}

/** Images and shortcodes of a text as it is. */
export function findPreservedMarkup(html: string, isShortcode: (tag: string) => boolean): PreservedMarkup {
  const images = new Set(
    [...html.matchAll(/<img\b[^>]*?\bsrc=(["'])(.*?)\1/gi)].map(([, , src = '']) => src.replaceAll('&amp;', '&')),
  );
  const shortcodes = [...html.matchAll(/\[\/?([\w-]+)[^[\]]*\]/g)]
    .filter(([, tag = '']) => isShortcode(tag))
    .map(([whole]) => whole);
  return { images, shortcodes: [...new Set(shortcodes)] };
}
