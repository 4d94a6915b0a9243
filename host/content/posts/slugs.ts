import type { HooksApi, Post, PostType } from '#plugin-api';
import { foldText } from '../html/text.ts';
import { statusesWithoutAddress } from '../types/post-statuses.ts';
import type { PostData } from './post-row.ts';
import type { PostStore } from './post-store.ts';

declare module '#plugin-api' {
  interface FilterMap {
    /** The slug that a post gets, after it was made unique. */
    wp_unique_post_slug: (
      ...args: [slug: string, postId: number, status: string, type: string, parentId: number, wanted: string]
    ) => string;
  }
}

const longest = 200;

/** First parts of addresses that the site itself answers. */
const reserved = new Set([
  'feed',
  'page',
  'search',
  'uploads',
  'assets',
  'admin',
  'wp-json',
  'healthz',
  'readyz',
  'metrics',
  'index.php',
  'comments',
  'embed',
  'robots.txt',
  'favicon.ico',
]);

/** Text as a part of an address: lower case, no accents, words joined by dashes. Letters of all scripts stay. */
export function slugOf(text: string): string {
  const plain = foldText(text)
    .replace(/ß/g, 'ss')
    .replace(/['’‘"“”]/g, '');
  return cut(plain.replace(/[^\p{L}\p{N}\p{M}_]+/gu, '-').replace(/^-+|-+$/g, ''), longest);
}

/** Whether a post in this state has an address of its own, which no other may have. */
export function needsUniqueSlug({ type, status, slug }: Pick<PostData, 'type' | 'status' | 'slug'>): boolean {
  return slug !== '' && type !== 'revision' && !statusesWithoutAddress.has(status);
}

/** What must be unique in the table; null where the slug need not be. */
export function slugKeyOf(
  post: Pick<PostData, 'type' | 'status' | 'slug' | 'parentId'>,
  type: PostType,
): string | null {
  return needsUniqueSlug(post) ? scopeOf(post, type) + post.slug : null;
}

export interface SlugInit {
  readonly post: Pick<Post, 'id' | 'type' | 'status' | 'slug' | 'parentId'>;
  readonly type: PostType;
  readonly store: Pick<PostStore, 'slugKeys'>;
  readonly hooks: Pick<HooksApi, 'applyFiltersAsync'>;
}

/** The wanted slug, or the first of `slug-2`, `slug-3`, ... that is free. Call it under the lock of slugs. */
export async function uniqueSlug({ post, type, store, hooks }: SlugInit): Promise<string> {
  if (!needsUniqueSlug(post)) return post.slug;
  const scope = scopeOf(post, type);
  const taken = await store.slugKeys(scope + cut(post.slug, longest - 12), post.id);
  const isFree = (slug: string): boolean => !taken.has(scope + slug) && !isReserved(slug, post);
  let slug = post.slug;
  for (let number = 2; !isFree(slug); number += 1)
    slug = `${cut(post.slug, longest - String(number).length - 1)}-${number}`;
  return hooks.applyFiltersAsync(
    'wp_unique_post_slug',
    slug,
    post.id,
    post.status,
    post.type,
    post.parentId,
    post.slug,
  );
}

function scopeOf({ type: name, parentId }: Pick<PostData, 'type' | 'parentId'>, type: PostType): string {
  return `${name}:${type.hierarchical ? parentId : 0}:`;
}

/** A page at the top must not look like an address of the site, nor like a year. */
function isReserved(slug: string, { type, parentId }: Pick<PostData, 'type' | 'parentId'>): boolean {
  return type === 'page' && parentId === 0 && (reserved.has(slug) || /^\d{1,4}$/.test(slug));
}

/** At most so many characters, without half a surrogate pair or a dash at the end. */
function cut(text: string, length: number): string {
  return text.length <= length
    ? text
    : [...text.slice(0, length)]
        .join('')
        .replace(/[\ud800-\udbff]$/, '')
        .replace(/-+$/, '');
}
