import type { HooksApi, Post, PostType } from '#plugin-api';
import { foldText } from '../html/text.ts';
import { statusesWithoutAddress } from '../types/post-statuses.ts';
import type { PostData } from './post-row.ts';
import type { PostStore } from './post-store.ts';

declare module '#plugin-api' {
  interface FilterMap {
    /** The unique slug of a post. */
    wp_unique_post_slug: (
      ...args: [slug: string, postId: number, status: string, type: string, parentId: number, requested: string]
    ) => string;
  }
}

const maxLength = 200;

/** First path segments that the site uses. */
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
  'post-password',
  'robots.txt',
  'favicon.ico',
]);

/** Converts text to a slug: lowercase, no accents, words joined by hyphens. Keeps letters of all scripts. */
export function slugOf(text: string): string {
  const plain = foldText(text)
    .replace(/ß/g, 'ss')
    .replace(/['’‘"“”]/g, '');
  return truncate(plain.replace(/[^\p{L}\p{N}\p{M}_]+/gu, '-').replace(/^-|-$/g, ''), maxLength);
}

/** Whether a post in this state has a permalink, which must be unique. */
export function needsUniqueSlug({ type, status, slug }: Pick<PostData, 'type' | 'status' | 'slug'>): boolean {
  return slug !== '' && type !== 'revision' && !statusesWithoutAddress.has(status);
}

/** The unique key of a slug in the table; null if it need not be unique. */
export function slugKeyFor(
  post: Pick<PostData, 'type' | 'status' | 'slug' | 'parentId'>,
  type: PostType,
): string | null {
  return needsUniqueSlug(post) ? slugScope(post, type) + post.slug : null;
}

export interface SlugInit {
  readonly post: Pick<Post, 'id' | 'type' | 'status' | 'slug' | 'parentId'>;
  readonly type: PostType;
  readonly store: Pick<PostStore, 'takenSlugKeys'>;
  readonly hooks: Pick<HooksApi, 'applyFiltersAsync'>;
}

/** The requested slug, or the first free one of `slug-2`, `slug-3`, ... Requires the lock `content_slugs`. */
export async function uniqueSlug({ post, type, store, hooks }: SlugInit): Promise<string> {
  if (!needsUniqueSlug(post)) return post.slug;
  const scope = slugScope(post, type);
  const slug = await firstFreeSlug(
    (number) => (number === 1 ? post.slug : `${truncate(post.slug, maxLength - String(number).length - 1)}-${number}`),
    async (slugs) => {
      const taken = await store.takenSlugKeys(
        slugs.map((candidate) => scope + candidate),
        post.id,
      );
      return slugs.find((candidate) => !taken.has(scope + candidate) && !isReserved(candidate, post));
    },
  );
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

/**
 * The first candidate that is free.
 *
 * @param candidate for 1, 2, 3, ...
 * @param findFree the first free one of some, in their order: of more of them each time, since most sites need the first.
 */
export async function firstFreeSlug(
  candidate: (number: number) => string,
  findFree: (slugs: readonly string[]) => Promise<string | undefined>,
): Promise<string> {
  for (let first = 1, size = 1; ; first += size, size = Math.min(size * 4, 256)) {
    const free = await findFree(Array.from({ length: size }, (_, index) => candidate(first + index)));
    if (free !== undefined) return free;
  }
}

function slugScope({ type: name, parentId }: Pick<PostData, 'type' | 'parentId'>, type: PostType): string {
  return `${name}:${type.hierarchical ? parentId : 0}:`;
}

/** A top-level page must not use a path of the site or look like a year. */
function isReserved(slug: string, { type, parentId }: Pick<PostData, 'type' | 'parentId'>): boolean {
  return type === 'page' && parentId === 0 && (reserved.has(slug) || /^\d{1,4}$/.test(slug));
}

/** Truncates text without leaving half a surrogate pair or a hyphen at the end. */
function truncate(text: string, length: number): string {
  return text.length <= length
    ? text
    : [...text.slice(0, length)]
        .join('')
        .replace(/[\ud800-\udbff]$/, '')
        .replace(/-$/, '');
}
