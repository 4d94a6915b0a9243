import { escapeHtml } from '#plugin-api';
import type { IOptions } from 'sanitize-html';
import { contentErrors } from '../errors.ts';

const globalAttributes = ['class', 'id', 'title', 'lang', 'dir', 'role', 'aria-*'];

const options: IOptions = {
  allowedTags: [
    'a',
    'abbr',
    'address',
    'article',
    'aside',
    'audio',
    'b',
    'bdo',
    'blockquote',
    'br',
    'caption',
    'cite',
    'code',
    'col',
    'colgroup',
    'dd',
    'del',
    'details',
    'dfn',
    'div',
    'dl',
    'dt',
    'em',
    'figcaption',
    'figure',
    'footer',
    'h1',
    'h2',
    'h3',
    'h4',
    'h5',
    'h6',
    'header',
    'hgroup',
    'hr',
    'i',
    'img',
    'ins',
    'kbd',
    'li',
    'main',
    'mark',
    'nav',
    'ol',
    'p',
    'picture',
    'pre',
    'q',
    's',
    'samp',
    'section',
    'small',
    'source',
    'span',
    'strike',
    'strong',
    'sub',
    'summary',
    'sup',
    'table',
    'tbody',
    'td',
    'tfoot',
    'th',
    'thead',
    'time',
    'tr',
    'track',
    'tt',
    'u',
    'ul',
    'var',
    'video',
    'wbr',
  ],
  allowedAttributes: {
    '*': globalAttributes,
    a: ['href', 'rel', 'rev', 'name', 'target', 'download', 'hreflang'],
    audio: ['src', 'controls', 'loop', 'muted', 'preload', 'autoplay'],
    blockquote: ['cite'],
    col: ['span'],
    colgroup: ['span'],
    del: ['datetime', 'cite'],
    details: ['open'],
    img: ['src', 'srcset', 'sizes', 'alt', 'width', 'height', 'loading', 'decoding'],
    ins: ['datetime', 'cite'],
    li: ['value'],
    ol: ['start', 'type', 'reversed'],
    q: ['cite'],
    source: ['src', 'srcset', 'sizes', 'type', 'media'],
    td: ['colspan', 'rowspan', 'headers'],
    th: ['colspan', 'rowspan', 'headers', 'scope', 'abbr'],
    time: ['datetime'],
    track: ['src', 'kind', 'srclang', 'label', 'default'],
    video: ['src', 'controls', 'loop', 'muted', 'preload', 'autoplay', 'poster', 'width', 'height', 'playsinline'],
  },
  allowedSchemes: ['http', 'https', 'mailto', 'tel'],
  allowProtocolRelative: true,
  disallowedTagsMode: 'discard',
  // Prevents an opened page from navigating the page that opened it.
  transformTags: {
    a: (tagName, attribs) => ({
      tagName,
      attribs: attribs['target'] === undefined ? attribs : { ...attribs, rel: 'noopener' },
    }),
  },
};

/** Elements inside each other. The parser looks through all open ones for each closing tag. */
const maxDepth = 500;

/** @throws html_too_deep */
async function refuseDeepHtml(html: string): Promise<void> {
  const { Parser } = await import('htmlparser2');
  let depth = 0;
  const parser = new Parser({
    onopentagname() {
      depth += 1;
      if (depth > maxDepth) throw contentErrors.html_too_deep({ values: { limit: String(maxDepth) } });
    },
    onclosetag() {
      depth -= 1;
    },
  });
  parser.end(html);
}

/**
 * Sanitizes the HTML of users without `unfiltered_html`. Removes scripts, styles, forms, frames, event handlers, attributes
 * that scripts react to (`data-*`), comments and URLs other than http, https, mailto and tel.
 *
 * @throws html_too_deep for more than 500 elements inside each other
 */
export async function sanitizeHtml(html: string): Promise<string> {
  if (!/[<&]/.test(html)) return escapeBare(html);
  await refuseDeepHtml(html);
  const { default: sanitize } = await import('sanitize-html');
  return sanitize(html, options);
}

const commentOptions: IOptions = {
  ...options,
  allowedTags: [
    ...['a', 'abbr', 'b', 'blockquote', 'br', 'cite', 'code', 'del', 'em'],
    ...['i', 'p', 'pre', 'q', 's', 'strike', 'strong'],
  ],
  allowedAttributes: { a: ['href', 'title', 'rel'], abbr: ['title'], blockquote: ['cite'], q: ['cite'] },
  // Search engines give no credit to links of commenters.
  transformTags: { a: (tagName, attribs) => ({ tagName, attribs: { ...attribs, rel: 'nofollow ugc' } }) },
};

/** Sanitizes a comment: inline text, quotes and links only, as in WordPress, for all authors. */
export async function sanitizeComment(html: string): Promise<string> {
  if (!/[<&]/.test(html)) return escapeBare(html);
  await refuseDeepHtml(html);
  const { default: sanitize } = await import('sanitize-html');
  return sanitize(html, commentOptions);
}

function escapeBare(text: string): string {
  return text.includes('>') ? escapeHtml(text).replaceAll('&quot;', '"').replaceAll('&#039;', "'") : text;
}
