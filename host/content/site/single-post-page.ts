import { parseId, translateText } from '#plugin-api';
import type { Post, PostType } from '#plugin-api';
import { statusesWithoutAddress } from '../types/post-statuses.ts';
import { commentsView, type SentComment } from './post-comments.ts';
import { plainDescription, singlePostView } from './post-view.ts';
import type { PublicSiteDependencies, SiteResponse, SiteVisit } from './site-page.ts';

/** The page of one post, by its permalink or by `?p=7`, which redirects to the permalink. */
export async function findSinglePost(given: PublicSiteDependencies, visit: SiteVisit): Promise<SiteResponse | null> {
  const id =
    visit.parts.length === 0 ? (visit.url.searchParams.get('p') ?? visit.url.searchParams.get('page_id')) : null;
  const post = id === null ? await findByPath(given, visit.parts) : await given.parts.store.get(parseId(id));
  if (post === null || given.parts.types.get(post.type)?.public !== true) return null;
  if (!(await mayRead(given, post, visit))) return null;
  const address = await given.parts.permalinks.url(post);
  if (post.type === 'attachment') return { kind: 'redirect', to: address };
  const isDraft = statusesWithoutAddress.has(post.status);
  if (!isDraft && visit.url.searchParams.get('preview') === null && new URL(address).pathname !== visit.url.pathname)
    return { kind: 'redirect', to: address };
  return singlePage(given, { post, visit, isUnlocked: given.passwords.isUnlocked(post, visit.cookies) });
}

/** The post of a sent form. Null: there is none that the visitor may open. */
export async function findPostById(given: PublicSiteDependencies, visit: SiteVisit, id: string): Promise<Post | null> {
  const post = await given.parts.store.get(parseId(id));
  if (post === null || given.parts.types.get(post.type)?.public !== true) return null;
  return (await mayRead(given, post, visit)) ? post : null;
}

export interface SinglePageInit {
  readonly post: Post;
  readonly visit: SiteVisit;
  /** The post has no password, or the visitor knows it. */
  readonly isUnlocked: boolean;
  /** Why the password was refused. */
  readonly failure?: string;
  /** A comment that was refused, to correct it. */
  readonly sentComment?: SentComment;
}

export async function singlePage(
  given: PublicSiteDependencies,
  { post, visit, isUnlocked, failure = '', sentComment }: SinglePageInit,
): Promise<SiteResponse> {
  const session = await visit.session();
  const { user } = session;
  const address = await given.parts.permalinks.url(post);
  const description = await plainDescription(given, post);
  return {
    kind: 'page',
    isPersonal: user.id > 0 || post.password !== '',
    page: {
      kind: post.type === 'page' ? 'page' : 'single',
      title: post.title || translateText('Untitled'),
      template: post.type === 'page' ? 'site/page' : 'site/single',
      post,
      isHidden: post.status !== 'publish',
      ...(post.status === 'publish' && { canonical: address, ...(description !== '' && { description }) }),
      data: {
        ...(await singlePostView(given, { post, user, isUnlocked })),
        failure,
        comments: isUnlocked ? await commentsView(given, { post, session, url: visit.url, sent: sentComment }) : null,
        status: post.status === 'publish' ? null : (given.parts.statuses.get(post.status)?.label ?? post.status),
      },
    },
  };
}

/** Published posts are public. Others need a user with access. */
async function mayRead({ anonymous, parts }: PublicSiteDependencies, post: Post, visit: SiteVisit): Promise<boolean> {
  if (post.status === 'inherit' && post.parentId > 0) await parts.store.get(post.parentId);
  const { user } = await visit.session();
  return post.status !== 'trash' && (anonymous.can('read_post', post) || user.can('read_post', post));
}

async function findByPath(given: PublicSiteDependencies, parts: readonly string[]): Promise<Post | null> {
  const [first = '', second = '', third] = parts;
  if (/^\d{4}$/.test(first))
    return /^\d{2}$/.test(second) && third !== undefined && parts.length === 3 ? findOne(given, 'post', third) : null;
  const type = given.parts.types
    .all()
    .find(
      (candidate) =>
        candidate.public && !['post', 'page', 'attachment'].includes(candidate.name) && candidate.rewriteSlug === first,
    );
  if (type !== undefined && parts.length > 1) return findBelow(given, type, parts.slice(1));
  const page = given.parts.types.get('page');
  return page === undefined || parts.length === 0 ? null : findBelow(given, page, parts);
}

async function findOne({ parts: { store } }: PublicSiteDependencies, type: string, slug: string): Promise<Post | null> {
  const found = await store.find({ type, status: 'any', slugs: [slug], limit: 20 });
  return found.find(({ status }) => !statusesWithoutAddress.has(status)) ?? null;
}

/** Follows the path from the top, because equal slugs may exist below different parents. */
async function findBelow(
  given: PublicSiteDependencies,
  type: PostType,
  slugs: readonly string[],
): Promise<Post | null> {
  if (!type.hierarchical) return slugs.length === 1 ? findOne(given, type.name, slugs[0] ?? '') : null;
  let post: Post | null = null;
  for (const slug of slugs) {
    const found: Post[] = await given.parts.store.find({
      type: type.name,
      status: 'any',
      slugs: [slug],
      parents: [post?.id ?? 0],
      limit: 20,
    });
    post = found.find(({ status }) => !statusesWithoutAddress.has(status)) ?? null;
    if (post === null) return null;
  }
  return post;
}
