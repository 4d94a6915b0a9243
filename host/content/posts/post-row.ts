import type { Post } from '#plugin-api';
import { foldText, htmlToText } from '../html/text.ts';

/** A row of the table `posts`. PostgreSQL may return big integers as text. */
export interface PostRow {
  readonly id: number;
  readonly type: string;
  readonly status: string;
  readonly title: string;
  readonly content: string;
  readonly excerpt: string;
  readonly slug: string;
  readonly slug_key: string | null;
  readonly author_id: number;
  readonly parent_id: number;
  readonly menu_order: number;
  readonly date: number | string;
  readonly is_date_set: number;
  readonly modified: number | string;
  readonly mime_type: string;
  readonly featured_media_id: number;
  readonly trashed_from: string | null;
  readonly password: string;
  readonly comment_status: string;
  readonly search_text: string;
  readonly title_key: string;
}

/** The data of a post without its id. */
export type PostData = Omit<Post, 'id'>;

export const textColumns = ['content', 'excerpt'];

export const shortColumns = [
  'id',
  'type',
  'status',
  'title',
  'slug',
  'author_id',
  'parent_id',
  'menu_order',
  'date',
  'is_date_set',
  'modified',
  'mime_type',
  'featured_media_id',
  'trashed_from',
  'password',
  'comment_status',
].map((name) => `posts.${name}`);

export const postColumns = [...shortColumns, ...textColumns.map((name) => `posts.${name}`)];

export function toPost(row: Omit<PostRow, 'search_text' | 'title_key' | 'slug_key'>): Post {
  return {
    id: Number(row.id),
    type: row.type,
    status: row.status,
    title: row.title,
    content: row.content,
    excerpt: row.excerpt,
    slug: row.slug,
    authorId: Number(row.author_id),
    parentId: Number(row.parent_id),
    menuOrder: Number(row.menu_order),
    date: Number(row.date),
    isDateSet: Number(row.is_date_set) === 1,
    modified: Number(row.modified),
    mimeType: row.mime_type,
    featuredMediaId: Number(row.featured_media_id),
    trashedFrom: row.trashed_from,
    password: row.password,
    commentStatus: row.comment_status === 'open' ? 'open' : 'closed',
  };
}

export function toRow(post: PostData, slugKey: string | null): Omit<PostRow, 'id'> {
  return {
    type: post.type,
    status: post.status,
    title: post.title,
    content: post.content,
    excerpt: post.excerpt,
    slug: post.slug,
    slug_key: slugKey,
    author_id: post.authorId,
    parent_id: post.parentId,
    menu_order: post.menuOrder,
    date: post.date,
    is_date_set: post.isDateSet ? 1 : 0,
    modified: post.modified,
    mime_type: post.mimeType,
    featured_media_id: post.featuredMediaId,
    trashed_from: post.trashedFrom,
    password: post.password,
    comment_status: post.commentStatus,
    search_text:
      post.type === 'revision'
        ? ''
        : foldText([post.title, htmlToText(post.excerpt), htmlToText(post.content)].join('\n')),
    title_key: post.type === 'revision' ? '' : foldText(post.title).slice(0, 100),
  };
}
