import {
  argumentBounds,
  storableText,
  type CommentStatus,
  type NewPost,
  type Post,
  type PostInput,
  type User,
} from '#plugin-api';
import { contentErrors } from '../errors.ts';
import type { Sanitizer } from '../html/sanitizer.ts';
import { statusesWithoutAddress } from '../types/post-statuses.ts';
import type { PostData } from './post-row.ts';
import { slugOf } from './slugs.ts';

export interface PostDraft {
  /** Null: a new post. */
  readonly before: Post | null;
  readonly input: PostInput | NewPost;
  readonly as: User | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Of a new post. */
  readonly commentStatus: CommentStatus;
  readonly sanitizer: Sanitizer;
}

const trashedMark = '__trashed';
const attachmentStatuses = new Set(['inherit', 'private', 'trash', 'auto-draft']);

/** Builds the post to write from defaults or the previous version, the input, and values derived from both. */
export async function composePost({ before, input, as, now, commentStatus, sanitizer }: PostDraft): Promise<PostData> {
  const savedAt = Math.floor(now / 1000) * 1000;
  const base = before ?? newPost((input as NewPost).type ?? 'post', { as, now: savedAt, commentStatus });
  const given = await cleanInput(input, as, sanitizer);
  const merged: PostData = { ...withoutId(base), ...given, modified: savedAt };
  return withPassword(withTrash(withDate({ post: merged, input, now: savedAt }), before));
}

function withPassword(post: PostData): PostData {
  const hasNone = post.status === 'private' || post.type === 'attachment' || post.type === 'revision';
  return hasNone ? { ...post, password: '' } : post;
}

function newPost(type: string, { as, now, commentStatus }: Pick<PostDraft, 'as' | 'now' | 'commentStatus'>): PostData {
  return {
    type,
    status: type === 'attachment' ? 'inherit' : 'draft',
    title: '',
    content: '',
    excerpt: '',
    slug: '',
    authorId: as?.id ?? 0,
    parentId: 0,
    menuOrder: 0,
    date: now,
    isDateSet: false,
    modified: now,
    mimeType: '',
    featuredMediaId: 0,
    trashedFrom: null,
    password: '',
    commentStatus,
  };
}

function withoutId(post: Post | PostData): PostData {
  const { id: _id, ...data } = post as Post;
  return data;
}

async function cleanInput(input: PostInput, as: User | undefined, sanitizer: Sanitizer): Promise<Partial<PostData>> {
  const isFiltered = as !== undefined && !as.can('unfiltered_html');
  const clean = async (html: string, field: LongField): Promise<string> => {
    refuseLong(html, field);
    if (!isFiltered) return html;
    const sanitized = await sanitizer.html(html);
    refuseLong(sanitized, field);
    return sanitized;
  };
  return {
    ...(input.status !== undefined && { status: input.status }),
    ...(input.title !== undefined && { title: oneLine(input.title) }),
    ...(input.content !== undefined && { content: await clean(storableText(input.content), 'content') }),
    ...(input.excerpt !== undefined && { excerpt: await clean(storableText(input.excerpt), 'excerpt') }),
    ...(input.slug !== undefined && { slug: slugOf(input.slug) }),
    ...(input.authorId !== undefined && { authorId: input.authorId }),
    ...(input.parentId !== undefined && { parentId: input.parentId }),
    ...(input.menuOrder !== undefined && { menuOrder: input.menuOrder }),
    ...(input.featuredMediaId !== undefined && { featuredMediaId: input.featuredMediaId }),
    ...(input.commentStatus !== undefined && { commentStatus: input.commentStatus }),
    ...(input.password !== undefined && { password: storableText(input.password).slice(0, 255) }),
  };
}

/** Characters of the stored HTML (D46): pages, feeds and lists render it for each reader. */
const longest = {
  content: argumentBounds.document.maxLength,
  excerpt: argumentBounds.paragraph.maxLength,
} as const;
type LongField = keyof typeof longest;

/** @throws content_too_long, excerpt_too_long */
function refuseLong(html: string, field: LongField): void {
  const limit = longest[field];
  if (html.length > limit) throw contentErrors[`${field}_too_long`]({ values: { limit: limit.toLocaleString('en') } });
}

function oneLine(title: string): string {
  return storableText(title.replace(/\p{Cc}+/gu, ' ')).trim();
}

/** A floating date moves with the clock until publication. A future date turns `publish` into `future`. */
function withDate({ post, input, now }: { post: PostData; input: PostInput; now: number }): PostData {
  const set = typeof input.date === 'number';
  const isDateSet = input.date === undefined ? post.isDateSet : set;
  const date = set ? Math.floor((input.date as number) / 1000) * 1000 : isDateSet ? post.date : now;
  const status =
    post.status === 'publish' && date > now
      ? 'future'
      : post.status === 'future' && date <= now
        ? 'publish'
        : post.status;
  const isFixed = isDateSet || !statusesWithoutAddress.has(status);
  return {
    ...post,
    date,
    isDateSet: isFixed,
    status: post.type === 'attachment' && !attachmentStatuses.has(status) ? 'inherit' : status,
  };
}

function withTrash(post: PostData, before: Post | null): PostData {
  if (post.status === 'trash') {
    if (before?.status === 'trash') return { ...post, trashedFrom: before.trashedFrom };
    return {
      ...post,
      trashedFrom: before?.status ?? 'draft',
      slug: post.slug === '' ? '' : post.slug.slice(0, 190) + trashedMark,
    };
  }
  const slug =
    before?.status === 'trash' && post.slug.endsWith(trashedMark) ? post.slug.slice(0, -trashedMark.length) : post.slug;
  const needsSlug = slug === '' && !statusesWithoutAddress.has(post.status) && post.type !== 'revision';
  return { ...post, trashedFrom: null, slug: needsSlug ? slugOf(post.title) : slug };
}
