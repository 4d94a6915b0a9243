import { escapeHtml, inTurn } from '#plugin-api';
import type { HooksApi, Post, User } from '#plugin-api';
import { htmlToText } from './html/text.ts';
import { addParagraphs, unwrapShortcodes } from './html/paragraphs.ts';
import type { ShortcodeRegistry } from './shortcodes/shortcodes.ts';

declare module '#plugin-api' {
  interface FilterMap {
    /** HTML of a title. */
    the_title: (html: string, postId: number) => string;
    /** Title of a post with a password on public pages; `%s` is the title. */
    protected_title_format: (format: string, post: Post) => string;
    /** HTML of the content. Paragraphs are made at priority 10, shortcodes run at 11. `viewer`: the signed-in user who sees the page. */
    the_content: (html: string, post: Post, viewer?: User) => string;
    /** The excerpt, or one generated from the content. */
    get_the_excerpt: (html: string, post: Post) => string;
    /** The HTML of an excerpt. */
    the_excerpt: (html: string, post: Post) => string;
    /** Number of words in a generated excerpt. Default: 55. */
    excerpt_length: (count: number) => number;
    /** HTML after a truncated excerpt. */
    excerpt_more: (html: string) => string;
  }
}

export interface Rendered {
  readonly title: string;
  readonly content: string;
  readonly excerpt: string;
}

export interface RendererDependencies {
  readonly hooks: Pick<HooksApi, 'applyFiltersAsync' | 'addFilter'>;
  readonly shortcodes: ShortcodeRegistry;
}

/** Who reads the rendered post. */
export interface Reader {
  /** The signed-in user who views the page. */
  readonly viewer?: User | undefined;
  /** The reader knows the password of the post, or may edit it. Default false. */
  readonly isUnlocked?: boolean;
}

export interface Renderer {
  title(post: Post): Promise<string>;
  /** The title on public pages, which names a post with a password as protected. */
  publicTitle(post: Post): Promise<string>;
  /** Empty for a post with a password, unless the reader knows it. */
  content(post: Post, reader?: Reader): Promise<string>;
  /** Likewise. */
  excerpt(post: Post, reader?: Reader): Promise<string>;
}

function isLocked({ password }: Post, { isUnlocked = false }: Reader): boolean {
  return password !== '' && !isUnlocked;
}

/** Characters of the content that a generated excerpt is made from (D46). */
const excerptSource = 50_000;
/** Characters of a word in a generated excerpt, on average: some languages write without spaces, and some words never end. */
const excerptWord = 30;

/** The first characters of a text, without half of a surrogate pair. */
function cutText(text: string, length: number): string {
  return text.slice(0, length).replace(/\p{Surrogate}$/u, '');
}

/** Renders stored posts to HTML through the filters of WordPress. */
export function createRenderer({ hooks, shortcodes }: RendererDependencies): Renderer {
  hooks.addFilter('the_content', async (html) => {
    const paragraphs = await inTurn(html, () => addParagraphs(html, shortcodes.scan));
    return inTurn(paragraphs, () => unwrapShortcodes(paragraphs, shortcodes.scan));
  });
  // After the filters that write HTML, as in WordPress.
  hooks.addFilter(
    'the_content',
    (html, post, viewer) => shortcodes.doShortcode(html, { post, ...(viewer && { viewer }) }),
    11,
  );

  async function generateExcerpt(post: Post): Promise<string> {
    const source = await inTurn(post.content, () => shortcodes.stripShortcodes(post.content));
    const terms = htmlToText(cutText(source, excerptSource))
      .split(' ')
      .filter((word) => word !== '');
    const length = await hooks.applyFiltersAsync('excerpt_length', 55);
    const whole = terms.slice(0, length).join(' ');
    const text = cutText(whole, length * excerptWord);
    const isCut = text.length < whole.length || terms.length > length || source.length > excerptSource;
    return escapeHtml(text) + (isCut ? await hooks.applyFiltersAsync('excerpt_more', ' [&hellip;]') : '');
  }

  const title: Renderer['title'] = (post) => hooks.applyFiltersAsync('the_title', escapeHtml(post.title), post.id);
  return {
    title,
    async publicTitle(post) {
      if (post.password === '') return title(post);
      const format = await hooks.applyFiltersAsync('protected_title_format', 'Protected: %s', post);
      const html = await title(post);
      return format.replace('%s', () => html);
    },
    async content(post, reader = {}) {
      if (isLocked(post, reader)) return '';
      const { viewer } = reader;
      return hooks.applyFiltersAsync('the_content', post.content, post, ...(viewer ? [viewer] : []));
    },
    async excerpt(post, reader = {}) {
      if (isLocked(post, reader)) return '';
      const written = post.excerpt === '' ? await generateExcerpt(post) : post.excerpt;
      const html = await hooks.applyFiltersAsync('get_the_excerpt', written, post);
      const wrapped = html === '' || /^\s*<(?:p|div|ul|ol|blockquote|figure)\b/i.test(html) ? html : `<p>${html}</p>\n`;
      return hooks.applyFiltersAsync('the_excerpt', wrapped, post);
    },
  };
}
