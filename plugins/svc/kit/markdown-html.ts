import type { Marked, Tokenizer } from 'marked';
import type { IOptions } from 'sanitize-html';
import { isHtmlTag } from './html-tags.ts';

/** Allowed HTML. No images, because they would track readers; no styles, classes or forms. */
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
  // The title of the page is the only h1.
  transformTags: { h1: 'h2' },
};

/** Markup of a rewritten post that may stay, because its author added it. */
export interface PreservedMarkup {
  /** URLs of images. */
  readonly images: ReadonlySet<string>;
  /** Complete shortcodes, `[gallery ids="1,2"]`. */
  readonly shortcodes: readonly string[];
}

const nothing: PreservedMarkup = { images: new Set(), shortcodes: [] };

/**
 * Converts Markdown of a model to clean HTML. A page that the model read may have injected instructions, so the text is never
 * trusted: active tags and images are removed, and shortcodes become text.
 */
export async function markdownToHtml(markdown: string, preserved: PreservedMarkup = nothing): Promise<string> {
  const [marked, { default: sanitize }] = await Promise.all([import('marked'), import('sanitize-html')]);
  const html = await parse(marked, markdown);
  const clean = sanitize(html, {
    ...allowed,
    exclusiveFilter: ({ tag, attribs }) => tag === 'img' && !preserved.images.has(attribs['src'] ?? ''),
  });
  return preserved.shortcodes
    .reduce((text, shortcode) => restoreShortcode(text, shortcode), clean.replaceAll('[', '&#91;'))
    .trim();
}

/** Characters that all searches for the end of an emphasis may read together: about 100 ms. Long articles need a tenth of it. */
const emphasisBudget = 2_000_000;
/** Quotes and lists in each other. Each level reads the rest of its text again. Beyond it the marks stay text. */
const maxNesting = 30;
/** Characters that all searches for rows of tables may read together. A table of 60,000 characters needs as many. */
const tableBudget = 2_000_000;

/**
 * HTML of Markdown. Marks of emphasis that nothing closes would take quadratic time: beyond a budget the rest of the paragraph
 * stays text. So would deep quotes and lists, and lines that look like the second one of a table: a text of many is read without
 * tables. A text that nests too deep to be parsed is shown as it is.
 */
async function parse(library: typeof import('marked'), markdown: string): Promise<string> {
  const gfm = tableCost(markdown) <= tableBudget;
  const parser: Marked = new library.Marked({ gfm, breaks: false, async: true });
  parser.setOptions({ tokenizer: createTokenizer(library) });
  try {
    return await parser.parse(markdown);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const escaped = markdown.replace(/[&<>]/g, (sign) => `&#${String(sign.charCodeAt(0))};`);
    return `<pre>${escaped}</pre>`;
  }
}

/** Characters that are read if the library looks from each line that may be the second one of a table to the end of its block. */
function tableCost(markdown: string): number {
  let cost = 0;
  let [lines, length] = [0, 0];
  for (const line of markdown.split('\n')) {
    const isBlank = /^[\s>]*$/.test(line);
    if (/^[\s>|:*+\d.)-]*$/.test(line) && line.includes('-')) lines += 1;
    length += line.length + 1;
    if (isBlank) [cost, lines, length] = [cost + lines * length, 0, 0];
  }
  return cost + lines * length;
}

/** For one text. */
function createTokenizer({ Tokenizer }: typeof import('marked')): Tokenizer {
  let left = emphasisBudget;
  let depth = 0;
  const nested = <Token>(read: () => Token): Token | undefined => {
    if (depth === maxNesting) return undefined;
    depth += 1;
    try {
      return read();
    } finally {
      depth -= 1;
    }
  };
  return new (class extends Tokenizer {
    override emStrong(...given: Parameters<Tokenizer['emStrong']>): ReturnType<Tokenizer['emStrong']> {
      const [text] = given;
      left -= text.length;
      if (left >= 0) return super.emStrong(...given);
      // The rest of the paragraph in one piece, of a kind that the library's types do not foresee here.
      return { type: 'text', raw: text, text } as unknown as ReturnType<Tokenizer['emStrong']>;
    }

    override tag(text: string): ReturnType<Tokenizer['tag']> {
      const token = super.tag(text);
      if (token === undefined || isHtmlTag(token.raw)) return token;
      return { type: 'text', raw: token.raw, text: token.raw } as unknown as ReturnType<Tokenizer['tag']>;
    }

    override html(text: string): ReturnType<Tokenizer['html']> {
      const token = super.html(text);
      return token === undefined || isHtmlTag(token.raw) ? token : undefined;
    }

    override blockquote(text: string): ReturnType<Tokenizer['blockquote']> {
      return nested(() => super.blockquote(text));
    }

    override list(text: string): ReturnType<Tokenizer['list']> {
      return nested(() => super.list(text));
    }
  })();
}

/** Restores a shortcode. Markdown or the sanitizer may have escaped its quotation marks. */
function restoreShortcode(html: string, shortcode: string): string {
  const inside = shortcode.slice(1);
  return [inside, inside.replaceAll('"', '&quot;')].reduce(
    (text, escaped) => text.replaceAll(`&#91;${escaped}`, shortcode),
    html,
  );
}

/** The images and shortcodes of the current text. */
export function findPreservedMarkup(html: string, isShortcode: (tag: string) => boolean): PreservedMarkup {
  const images = new Set(
    [...html.matchAll(/<img\b[^<>]*?\bsrc=(?:"([^"\n]*)"|'([^'\n]*)')/gi)].map(([, double, single]) =>
      (double ?? single ?? '').replaceAll('&amp;', '&'),
    ),
  );
  const shortcodes = [...html.matchAll(/\[\/?([\w-]+)(?:[^\w[\]-][^[\]]*)?\]/g)]
    .filter(([, tag = '']) => isShortcode(tag))
    .map(([whole]) => whole);
  return { images, shortcodes: [...new Set(shortcodes)] };
}
