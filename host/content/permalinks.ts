import { localDay } from '#plugin-api';
import type { HooksApi, Post, SiteApi } from '#plugin-api';
import type { MediaLibrary } from './media/media.ts';
import type { PostStore } from './posts/post-store.ts';
import { statusesWithoutAddress } from './types/post-statuses.ts';
import type { PostTypes } from './types/post-types.ts';

declare module '#plugin-api' {
  interface FilterMap {
    /** URL of a post. `page_link` and `post_type_link` apply to other types. */
    post_link: (address: string, post: Post) => string;
    /** The address of a page. */
    page_link: (address: string, post: Post) => string;
    /** The address of a post of a type that a plugin registered. */
    post_type_link: (address: string, post: Post) => string;
  }
}

export interface PermalinksDependencies {
  readonly site: Pick<SiteApi, 'url' | 'timezone'>;
  readonly store: Pick<PostStore, 'get'>;
  readonly types: PostTypes;
  readonly media: () => Pick<MediaLibrary, 'url'>;
  readonly hooks: Pick<HooksApi, 'applyFiltersAsync'>;
}

export interface Permalinks {
  /** Absolute URL of a post on the public site. Drafts have a preview URL, attachments the URL of their file. */
  url(post: Post): Promise<string>;
  /** The URL with `%postname%` instead of the slug. */
  template(post: Post): Promise<string>;
  /** The path of a post, for example `/parent/child/`. */
  path(post: Post, slug?: string): Promise<string>;
}

export const slugPlaceholder = '%postname%';

/** `/YYYY/MM/slug/` for posts, `/parent/slug/` for pages, `/{rewriteSlug}/slug/` for other types. */
export function createPermalinks({ site, store, types, media, hooks }: PermalinksDependencies): Permalinks {
  async function hierarchicalPath(post: Post, slug: string): Promise<string> {
    const parts = [slug];
    const seen = new Set([post.id]);
    for (let next = post.parentId; next !== 0 && !seen.has(next);) {
      seen.add(next);
      const parent = await store.get(next);
      if (parent === null) break;
      parts.unshift(parent.slug);
      next = parent.parentId;
    }
    return parts.map((part) => (part === slugPlaceholder ? part : encodeURIComponent(part))).join('/');
  }

  async function path(post: Post, slug = post.slug): Promise<string> {
    const type = types.get(post.type);
    if (post.type === 'post') {
      const [year, month] = localDay(post.date, await site.timezone()).split('-');
      return `/${year}/${month}/${slug === slugPlaceholder ? slug : encodeURIComponent(slug)}/`;
    }
    const tail =
      type?.hierarchical === true
        ? await hierarchicalPath(post, slug)
        : slug === slugPlaceholder
          ? slug
          : encodeURIComponent(slug);
    return post.type === 'page' ? `/${tail}/` : `/${type?.rewriteSlug ?? post.type}/${tail}/`;
  }

  async function buildUrl(post: Post): Promise<string> {
    if (post.type === 'attachment') return (await media().url(post.id)) ?? `${site.url}/?p=${post.id}`;
    const hasAddress =
      types.get(post.type)?.public === true && !statusesWithoutAddress.has(post.status) && post.slug !== '';
    const address = site.url + (hasAddress ? await path(post) : `/?p=${post.id}`);
    const filter = post.type === 'post' ? 'post_link' : post.type === 'page' ? 'page_link' : 'post_type_link';
    return hooks.applyFiltersAsync(filter, address, post);
  }

  return { url: buildUrl, path, template: async (post) => site.url + (await path(post, slugPlaceholder)) };
}
