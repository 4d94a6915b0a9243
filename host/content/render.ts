import type { HooksApi, Post, User } from '#plugin-api';
import { escapeHtml, htmlToText } from './html/text.ts';
import type { Shortcodes } from './shortcodes/shortcodes.ts';

declare module '#plugin-api' {
  interface FilterMap {
    /** HTML of a title. */
    the_title: (html: string, postId: number) => string;
    /** HTML of the content. Shortcodes run at priority 11. `viewer`: the signed-in user who sees the page. */
    the_content: (html: string, post: Post, viewer?: User) => string;
    /** The excerpt, or one generated from the content. */
    get_the_excerpt: (html: string, post: Post) => string;
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
  readonly shortcodes: Shortcodes;
}

export interface Renderer {
  title(post: Post): Promise<string>;
  content(post: Post, viewer?: User): Promise<string>;
  excerpt(post: Post): Promise<string>;
}

/** Renders stored posts to HTML through the filters of WordPress. */
export function createRenderer({ hooks, shortcodes }: RendererDependencies): Renderer {
  // After the filters that write HTML, as in WordPress.
  hooks.addFilter(
    'the_content',
    (html, post, viewer) => shortcodes.doShortcode(html, { post, ...(viewer && { viewer }) }),
    11,
  );

  async function generateExcerpt(post: Post): Promise<string> {
    const terms = htmlToText(shortcodes.stripShortcodes(post.content))
      .split(' ')
      .filter((word) => word !== '');
    const length = await hooks.applyFiltersAsync('excerpt_length', 55);
    const text = escapeHtml(terms.slice(0, length).join(' '));
    return terms.length > length ? text + (await hooks.applyFiltersAsync('excerpt_more', ' [&hellip;]')) : text;
  }

  return {
    title: (post) => hooks.applyFiltersAsync('the_title', escapeHtml(post.title), post.id),
    content: (post, viewer) => hooks.applyFiltersAsync('the_content', post.content, post, ...(viewer ? [viewer] : [])),
    async excerpt(post) {
      const written = post.excerpt === '' ? await generateExcerpt(post) : post.excerpt;
      const html = await hooks.applyFiltersAsync('get_the_excerpt', written, post);
      const wrapped = html === '' || /^\s*<(?:p|div|ul|ol|blockquote|figure)\b/i.test(html) ? html : `<p>${html}</p>\n`;
      return hooks.applyFiltersAsync('the_excerpt', wrapped, post);
    },
  };
}
