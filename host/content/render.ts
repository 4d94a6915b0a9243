import type { HooksApi, Post, User } from '#plugin-api';
import { escapeHtml, textOfHtml } from './html/text.ts';
import type { Shortcodes } from './shortcodes/shortcodes.ts';

declare module '#plugin-api' {
  interface FilterMap {
    /** HTML of a title. */
    the_title: (html: string, postId: number) => string;
    /** HTML of a post's text; shortcodes are done at priority 11. `viewer`: the signed-in user on whose page it is shown. */
    the_content: (html: string, post: Post, viewer?: User) => string;
    /** The excerpt as written, or made of the content. */
    get_the_excerpt: (html: string, post: Post) => string;
    the_excerpt: (html: string, post: Post) => string;
    /** Words in an excerpt that is made of the content; default 55. */
    excerpt_length: (words: number) => number;
    /** What follows an excerpt that was cut. */
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

/** From what is stored to the HTML that is shown, through WordPress's filters. */
export function createRenderer({ hooks, shortcodes }: RendererDependencies): Renderer {
  // After the filters that write HTML, as in WordPress.
  hooks.addFilter(
    'the_content',
    (html, post, viewer) => shortcodes.doShortcode(html, { post, ...(viewer && { viewer }) }),
    11,
  );

  async function madeExcerpt(post: Post): Promise<string> {
    const words = textOfHtml(shortcodes.stripShortcodes(post.content))
      .split(' ')
      .filter((word) => word !== '');
    const length = await hooks.applyFiltersAsync('excerpt_length', 55);
    const text = escapeHtml(words.slice(0, length).join(' '));
    return words.length > length ? text + (await hooks.applyFiltersAsync('excerpt_more', ' [&hellip;]')) : text;
  }

  return {
    title: (post) => hooks.applyFiltersAsync('the_title', escapeHtml(post.title), post.id),
    content: (post, viewer) => hooks.applyFiltersAsync('the_content', post.content, post, ...(viewer ? [viewer] : [])),
    async excerpt(post) {
      const written = post.excerpt === '' ? await madeExcerpt(post) : post.excerpt;
      const html = await hooks.applyFiltersAsync('get_the_excerpt', written, post);
      const wrapped = html === '' || /^\s*<(?:p|div|ul|ol|blockquote|figure)\b/i.test(html) ? html : `<p>${html}</p>\n`;
      return hooks.applyFiltersAsync('the_excerpt', wrapped, post);
    },
  };
}
