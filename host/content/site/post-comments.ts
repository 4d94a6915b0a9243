import type { Comment, CommentQuery, Post } from '#plugin-api';
import type { CommentStore } from '../comments/comment-store.ts';
import { registrationSetting } from '../comments/comments.ts';
import { commentAvatar, renderComment } from '../rest/comment-response.ts';
import type { PublicSiteDependencies, SiteSession } from './site-page.ts';

/** A comment as a visitor typed it. */
export interface SentComment {
  readonly parentId: number;
  readonly name: string;
  readonly email: string;
  readonly text: string;
  /** Why it was refused. */
  readonly failure: string;
}

export interface CommentsViewInit {
  readonly post: Post;
  readonly session: SiteSession;
  /** Address of the page, with `cpage` and `replytocom`. */
  readonly url: URL;
  readonly sent?: SentComment | undefined;
}

/** Comments of a page that reply to the post itself; their replies are below them. */
const perPage = 50;
/** Replies of one page that are read. */
const mostReplies = 2_000;
const deepestIndent = 4;
const avatarPixels = 48;

/** Longest comment of the form in characters. */
export const longestComment = 20_000;

/** Action of the nonce in the form. */
export function commentAction({ id }: Pick<Post, 'id'>): string {
  return `comment:${id}`;
}

/** Template data: the comments that the visitor may read, and the form. Null: a post without comments takes none. */
export async function commentsView(
  given: PublicSiteDependencies,
  { post, session, url, sent }: CommentsViewInit,
): Promise<Readonly<Record<string, unknown>> | null> {
  const { store } = given.parts.comments;
  const readable = { posts: [post.id], visibleTo: { user: session.user, unlockedPost: post.id } };
  const [total, isOpen] = [await store.count(readable), await given.parts.comments.isOpen(post)];
  if (total === 0 && !isOpen) return null;
  const threads = await store.count({ ...readable, parents: [0] });
  const pages = Math.max(1, Math.ceil(threads / perPage));
  const page = Math.min(pages, Number(/^[1-9]\d{0,5}$/.exec(url.searchParams.get('cpage') ?? '')?.[0] ?? 1));
  const oldestFirst = { ...readable, order: 'asc' } as const;
  const first = await store.find({ ...oldestFirst, parents: [0], limit: perPage, offset: (page - 1) * perPage });
  const replies = threads < total ? await findReplies(store, oldestFirst, first) : [];
  const listed = withReplies(first, replies);
  const isGuest = session.user.id === 0;
  const canWrite = isOpen && !(isGuest && (await given.options.get<unknown>(registrationSetting)) !== false);
  const address = await given.parts.permalinks.url(post);
  const pageAddress = (number: number): string => `${address}${number > 1 ? `?cpage=${number}` : ''}#comments`;
  const parentId = sent?.parentId ?? Number(/^\d{1,9}$/.exec(url.searchParams.get('replytocom') ?? '')?.[0] ?? 0);
  const parent = listed.find(({ comment }) => comment.id === parentId && comment.status === 'approved');
  return {
    total,
    list: await Promise.all(listed.map((one) => commentView(given, { ...one, address, page, canWrite }))),
    previous: page > 1 ? pageAddress(page - 1) : null,
    next: page < pages ? pageAddress(page + 1) : null,
    page,
    pages,
    isHeld: url.searchParams.get('comment') === 'held',
    isOpen,
    form: canWrite && {
      post: post.id,
      parent: parent?.comment.id ?? 0,
      replyingTo: parent?.comment.authorName ?? null,
      cancelUrl: pageAddress(page),
      nonce: given.nonces.create(commentAction(post), session.user, session.sessionId),
      isGuest,
      userName: session.user.displayName,
      longest: longestComment,
      ...sent,
    },
  };
}

interface ListedComment {
  readonly comment: Comment;
  /** 0: replies to the post. */
  readonly depth: number;
  readonly parent: Comment | null;
}

/** The replies below the comments, level by level: a post may have more of them than a page can show. */
async function findReplies(
  store: CommentStore,
  readable: CommentQuery,
  comments: readonly Comment[],
): Promise<readonly Comment[]> {
  const replies: Comment[] = [];
  for (let level = comments; level.length > 0 && replies.length < mostReplies;) {
    const parents = level.map(({ id }) => id);
    level = await store.find({ ...readable, parents, limit: mostReplies - replies.length });
    replies.push(...level);
  }
  return replies;
}

/** Each comment with its replies behind it. Replies to comments that are not shown are left out. */
function withReplies(first: readonly Comment[], replies: readonly Comment[]): ListedComment[] {
  const byParent = new Map<number, Comment[]>();
  for (const reply of replies) byParent.set(reply.parentId, [...(byParent.get(reply.parentId) ?? []), reply]);
  const listed: ListedComment[] = [];
  const waiting: ListedComment[] = first.toReversed().map((comment) => ({ comment, depth: 0, parent: null }));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    listed.push(next);
    const { comment, depth } = next;
    for (const reply of (byParent.get(comment.id) ?? []).toReversed())
      waiting.push({ comment: reply, depth: depth + 1, parent: comment });
  }
  return listed;
}

async function commentView(
  given: PublicSiteDependencies,
  {
    comment,
    depth,
    parent,
    address,
    page,
    canWrite,
  }: ListedComment & { readonly address: string; readonly page: number; readonly canWrite: boolean },
): Promise<Readonly<Record<string, unknown>>> {
  const user = comment.userId > 0 ? await given.users.get(comment.userId) : null;
  const query = new URLSearchParams({ ...(page > 1 && { cpage: String(page) }), replytocom: String(comment.id) });
  return {
    id: comment.id,
    indent: Math.min(depth, deepestIndent),
    author: comment.authorName,
    authorUrl: comment.authorUrl,
    avatar: commentAvatar(given, { comment, user, size: avatarPixels }),
    date: comment.date,
    isoDate: new Date(comment.date).toISOString(),
    content: given.views.safe(await renderComment(given, comment)),
    parent: parent && { id: parent.id, author: parent.authorName },
    isHeld: comment.status === 'hold',
    replyUrl: canWrite && comment.status === 'approved' ? `${address}?${query.toString()}#respond` : null,
  };
}

/** Address of an approved comment, on its page of the post. */
export async function commentAddress(store: CommentStore, comment: Comment, address: string): Promise<string> {
  let top = comment;
  for (let steps = 0; top.parentId !== 0 && steps < 1_000; steps += 1)
    top = (await store.get(top.parentId)) ?? { ...top, parentId: 0 };
  const before = { posts: [comment.postId], parents: [0], status: 'approved' as const, before: top.date + 1 };
  const page = Math.max(1, Math.ceil((await store.count(before)) / perPage));
  return `${address}${page > 1 ? `?cpage=${page}` : ''}#comment-${comment.id}`;
}
