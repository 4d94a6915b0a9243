import { momentOf, pagingHeaders, restError, RestResponse, type RestError, withoutUndefined } from '#plugin-api';
import type { CommentQuery, CommentState, Post, RouteDefinition, User } from '#plugin-api';
import { commentItems } from './comment-response.ts';
import { commentListArguments, commentSchema } from './comment-schema.ts';
import { publicReadSecurity, refused, type ContentRestDependencies, type Request } from './context.ts';

/** Without `edit_posts`, a list cannot be narrowed by these. */
const protectedNames = ['author', 'author_exclude', 'author_email', 'type', 'status'] as const;
const harmless: Readonly<Record<string, string>> = { type: 'comment', status: 'approve' };
const states: Readonly<Record<string, CommentState>> = {
  approve: 'approved',
  approved: 'approved',
  hold: 'hold',
  spam: 'spam',
  trash: 'trash',
};

/**
 * Whether the user reads the post and so its comments. A post with a password needs it, or the right to edit the post.
 *
 * @throws RestError 429 after too many wrong passwords.
 */
export async function canReadPost(given: ContentRestDependencies, post: Post, request: Request): Promise<boolean> {
  const { user } = request;
  if (post.status === 'inherit' && post.parentId > 0) await given.parts.store.get(post.parentId);
  if (!user.can('read_post', post)) return false;
  return post.password === '' || user.can('edit_post', post) || isUnlocked(given, post, request);
}

async function isUnlocked({ passwords }: ContentRestDependencies, post: Post, request: Request): Promise<boolean> {
  const password = request.query['password'];
  return typeof password === 'string' && password !== '' && passwords.check(post, password, request.ip);
}

/** `GET /wp/v2/comments`: the comments that the caller can read, in pages. */
export function commentsListRoute(given: ContentRestDependencies): RouteDefinition {
  const { parts, hooks, rest, site } = given;
  return {
    methods: ['GET'],
    args: commentListArguments,
    schema: commentSchema,
    summary: 'Lists comments.',
    security: publicReadSecurity,
    permission: (request) => mayList(given, request),
    async handler(request) {
      const { params } = request;
      if (params['orderby'] === 'include' && !Array.isArray(params['include']))
        return restError(
          400,
          'rest_orderby_include_missing_include',
          'You need to define an include parameter to order by include.',
        );
      const wanted = readQuery(request, await site.timezone());
      const query = await hooks.applyFiltersAsync('rest_comment_query', wanted, request);
      const [page, perPage] = [Number(params['page']), Number(params['per_page'])];
      const isOther = params['type'] !== 'comment' && params['type'] !== 'all';
      const total = isOther ? 0 : await parts.comments.store.count(query);
      const offset = Number(params['offset'] ?? (page - 1) * perPage);
      const comments = isOther ? [] : await parts.comments.store.find({ ...query, limit: perPage, offset }, total);
      const url = rest.url('/wp/v2/comments');
      return new RestResponse({
        body: await commentItems(given, comments, request),
        headers: {
          ...pagingHeaders({ total, page, perPage, url, query: request.query }),
          ...(request.query['password'] !== undefined && { 'Cache-Control': 'private, no-store' }),
        },
      });
    },
  };
}

declare module '#plugin-api' {
  interface FilterMap {
    /** The query of a list of comments in REST. */
    rest_comment_query: (query: CommentQuery, request: Request) => CommentQuery;
  }
}

async function mayList(given: ContentRestDependencies, request: Request): Promise<true | RestError> {
  const { params, user } = request;
  for (const id of toIds(params['post']) ?? []) {
    const post = await given.parts.store.get(id);
    if (post !== null && !(await canReadPost(given, post, request))) return cannotReadPost(user);
    if (id === 0 && !user.can('moderate_comments'))
      return refused(request, 'rest_cannot_read', 'Sorry, you are not allowed to read comments without a post.');
  }
  if (params['context'] === 'edit' && !user.can('moderate_comments'))
    return refused(request, 'rest_forbidden_context', 'Sorry, you are not allowed to edit comments.');
  const forbidden = user.can('edit_posts')
    ? []
    : protectedNames.filter((name) => isNarrowed(params[name], harmless[name]));
  return (
    forbidden.length === 0 ||
    refused(request, 'rest_forbidden_param', `Query parameter not permitted: ${forbidden.join(', ')}`)
  );
}

function isNarrowed(value: unknown, usual: string | undefined): boolean {
  if (usual !== undefined) return value !== usual;
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== '';
}

export function cannotReadPost(user: User): RestError {
  return refused({ user }, 'rest_cannot_read_post', 'Sorry, you are not allowed to read the post for this comment.');
}

function toIds(value: unknown): number[] | undefined {
  return Array.isArray(value) && value.length > 0 ? (value as number[]) : undefined;
}

function readQuery({ params, query, user }: Request, timezone: string): CommentQuery {
  const text = (name: string): string | undefined =>
    typeof params[name] === 'string' && params[name] !== '' ? params[name] : undefined;
  const time = (name: string): number | undefined => momentOf(text(name) ?? '', timezone) ?? undefined;
  const posts = toIds(params['post']);
  // The permission has checked the password of the only post.
  const unlocked = typeof query['password'] === 'string' && posts?.length === 1 ? posts[0] : undefined;
  const orderBy = String(params['orderby']).replace(/^date_gmt$|^type$/, 'date');
  const wanted = {
    status: states[String(params['status'])],
    search: text('search'),
    posts,
    parents: toIds(params['parent']),
    parentsExclude: toIds(params['parent_exclude']),
    include: toIds(params['include']),
    exclude: toIds(params['exclude']),
    authors: toIds(params['author']),
    authorsExclude: toIds(params['author_exclude']),
    authorEmail: text('author_email'),
    before: time('before'),
    after: time('after'),
    visibleTo: { user, ...(unlocked !== undefined && { unlockedPost: unlocked }) },
    orderBy,
    order: params['order'],
  };
  return withoutUndefined(wanted) as CommentQuery;
}
