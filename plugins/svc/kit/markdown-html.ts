import type { Marked, Tokenizer } from 'marked';
import type { IOptions } from 'sanitize-html';

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

/**
 * HTML of Markdown. Marks of emphasis that nothing closes would take quadratic time: beyond a budget the rest of
 * the paragraph stays text. A text
 * that nests too deep to be parsed is shown as it is.
 */
async function parse(library: typeof import('marked'), markdown: string): Promise<string> {
  let left = emphasisBudget;
  const parser: Marked = new library.Marked({ gfm: true, breaks: false, async: true });
  parser.use({
    tokenizer: {
      emStrong(text) {
        left -= text.length;
        if (left >= 0) return false;
        // The rest of the paragraph in one piece, of a kind that the library's types do not foresee here.
        return { type: 'text', raw: text, text } as unknown as ReturnType<Tokenizer['emStrong']>;
      },
    },
  });
  try {
    return await parser.parse(markdown);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const escaped = markdown.replace(/[&<>]/g, (sign) => `&#${String(sign.charCodeAt(0))};`);
    return `<pre>${escaped}</pre>`;
  }
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
