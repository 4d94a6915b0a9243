import { randomBytes } from 'node:crypto';
import { findHtmlParts, htmlComment, type RestError } from '#plugin-api';
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

/** Of the properties that WordPress keeps those that move nothing over the page. */
const safeProperties = [
  ...['color', 'background-color', 'text-align', 'text-decoration', 'text-transform', 'text-indent', 'vertical-align'],
  ...['font-size', 'font-style', 'font-weight', 'line-height', 'letter-spacing', 'list-style-type'],
  ...['width', 'height', 'max-width', 'min-width', 'float', 'clear'],
  ...['', '-top', '-right', '-bottom', '-left'].flatMap((side) => [`margin${side}`, `padding${side}`, `border${side}`]),
];
/** No addresses, functions or negative lengths. */
const safeValues = [/^[\w#%., ]{1,100}$/, /^rgba?\([\d%., ]{1,60}\)$/];

/** As in WordPress, authors keep harmless styles; commenters have none. */
const authorOptions: IOptions = {
  ...options,
  allowedAttributes: { ...options.allowedAttributes, '*': [...globalAttributes, 'style'] },
  allowedStyles: { '*': Object.fromEntries(safeProperties.map((name) => [name, safeValues])) },
};

/** Comments of the block editor, and those that divide a post. Their JSON has its own escapes for `<`, `>` and `--`. */
const harmlessComment =
  /^<!--(?:more(?: [^<>]{0,200})?|nextpage|noteaser| \/?wp:[a-z][a-z\d/-]{0,100}(?: \{[^<>]{0,20000}\})? \/?)-->$/;

/** What one text may have at most (D46). */
const most = {
  /** Tags, opening and closing, and bare `<`: each costs the sanitizer some microseconds. */
  html_too_many_tags: 100_000,
  /** Elements inside each other. The parser looks through all open ones for each closing tag. */
  html_too_deep: 500,
} as const;
export type HtmlRefusal = keyof typeof most;

/** The error of HTML that costs too much. */
export function htmlRefused(code: HtmlRefusal): RestError {
  return contentErrors[code]({ values: { limit: most[code].toLocaleString('en') } });
}

/** @throws html_too_many_tags, html_too_deep */
async function refuseCostlyHtml(html: string): Promise<void> {
  let tags = 0;
  for (let at = html.indexOf('<'); at >= 0; at = html.indexOf('<', at + 1))
    if ((tags += 1) > most.html_too_many_tags) throw htmlRefused('html_too_many_tags');
  const { Parser } = await import('htmlparser2');
  let depth = 0;
  const parser = new Parser({
    onopentagname() {
      depth += 1;
      if (depth > most.html_too_deep) throw htmlRefused('html_too_deep');
    },
    onclosetag() {
      depth -= 1;
    },
  });
  parser.end(html);
}

/**
 * Sanitizes the HTML of users without `unfiltered_html`. Removes scripts, style sheets, forms, frames, event handlers, attributes
 * that scripts react to (`data-*`), URLs other than http, https, mailto and tel, and comments but for those of the block editor.
 *
 * @throws html_too_many_tags, and html_too_deep for more than 500 elements inside each other
 */
export async function sanitizeHtml(html: string): Promise<string> {
  if (!/[<&]/.test(html)) return escapeBare(html);
  await refuseCostlyHtml(html);
  const { default: sanitize } = await import('sanitize-html');
  const comments = (await findHtmlParts(html, htmlComment))
    .map(({ start, end }) => ({ start, end, text: html.slice(start, end) }))
    .filter(({ text }) => harmlessComment.test(text) && text.indexOf('--', 4) === text.length - 3);
  if (comments.length === 0) return sanitize(html, authorOptions);
  // The library removes all comments: a word that no author can guess holds the place of each.
  const mark = `svc${randomBytes(16).toString('hex')}`;
  let marked = '';
  let from = 0;
  for (const [index, { start, end }] of comments.entries()) {
    marked += `${html.slice(from, start)}${mark}${String(index)}.`;
    from = end;
  }
  const [first = '', ...rest] = sanitize(marked + html.slice(from), authorOptions).split(mark);
  const restored = rest.map((part) => {
    const end = part.indexOf('.');
    return `${comments[Number(part.slice(0, end))]?.text ?? ''}${part.slice(end + 1)}`;
  });
  return first + restored.join('');
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
  await refuseCostlyHtml(html);
  const { default: sanitize } = await import('sanitize-html');
  return sanitize(html, commentOptions);
}

function escapeBare(text: string): string {
  return text.replace(/>/g, '&gt;');
}
