import { localIso, RestResponse, utcIso, wantsLinks } from '#plugin-api';
import type { Comment, RestRequest, User } from '#plugin-api';
import { addParagraphs } from '../html/paragraphs.ts';
import { commentSchema } from './comment-schema.ts';
import { compactLinks, type ContentRestDependencies, type Context, type Links, type Request } from './context.ts';
import { inContext } from './post-schema.ts';

declare module '#plugin-api' {
  interface FilterMap {
    /** The response for one comment. */
    rest_prepare_comment: (response: RestResponse, comment: Comment, request: RestRequest) => RestResponse;
  }
}

const avatarSizes = [24, 48, 96];

/** HTML of a comment for pages and REST. Shortcodes do not run in comments. */
export async function renderComment(
  { hooks }: Pick<ContentRestDependencies, 'hooks'>,
  comment: Comment,
): Promise<string> {
  return hooks.applyFiltersAsync(
    'comment_text',
    addParagraphs(comment.content, () => []),
    comment,
  );
}

/** The avatar of a guest: from the name, without an external service. */
export function commentAvatar(
  { avatarUrl }: Pick<ContentRestDependencies, 'avatarUrl'>,
  { comment, user, size }: { readonly comment: Comment; readonly user: User | null; readonly size: number },
): string {
  return avatarUrl(user ?? { login: comment.authorName, displayName: comment.authorName }, size);
}

/** The response for one comment. @param context default: that of the request. */
export async function commentResponse(
  given: ContentRestDependencies,
  { comment, request, context }: { readonly comment: Comment; readonly request: Request; readonly context?: Context },
): Promise<RestResponse> {
  const { parts, site, users, hooks } = given;
  const timezone = await site.timezone();
  const post = await parts.store.get(comment.postId);
  const user = comment.userId > 0 ? await users.get(comment.userId) : null;
  const body = {
    id: comment.id,
    post: comment.postId,
    parent: comment.parentId,
    author: comment.userId,
    author_name: comment.authorName,
    author_email: comment.authorEmail,
    author_url: comment.authorUrl,
    author_ip: comment.authorIp,
    author_user_agent: comment.authorAgent,
    date: localIso(comment.date, timezone),
    date_gmt: utcIso(comment.date),
    content: { rendered: await renderComment(given, comment), raw: comment.content },
    link: post === null ? site.url : `${await parts.permalinks.url(post)}#comment-${comment.id}`,
    status: comment.status,
    type: 'comment',
    author_avatar_urls: Object.fromEntries(
      avatarSizes.map((size) => [String(size), commentAvatar(given, { comment, user, size })]),
    ),
    meta: {},
  };
  const shown = context ?? (request.params['context'] as Context | undefined) ?? 'view';
  const response = new RestResponse({
    body: inContext(body, commentSchema, shown),
    ...(wantsLinks(request) && { links: await links(given, comment, post?.type ?? null) }),
  });
  return hooks.applyFiltersAsync('rest_prepare_comment', response, comment, request);
}

/** The items of a list, including their links. */
export async function commentItems(
  given: ContentRestDependencies,
  comments: readonly Comment[],
  request: Request,
): Promise<unknown[]> {
  const responses = await Promise.all(comments.map((comment) => commentResponse(given, { comment, request })));
  return responses.map(({ body, links: own }) =>
    Object.keys(own).length === 0 ? body : { ...(body as Record<string, unknown>), _links: compactLinks(own) },
  );
}

async function links(
  { rest, parts }: ContentRestDependencies,
  { id, userId, postId, parentId }: Comment,
  postType: string | null,
): Promise<Links> {
  const base = rest.url('/wp/v2/comments');
  const type = postType === null ? undefined : parts.types.get(postType);
  const replies = await parts.comments.store.count({ parents: [id], status: 'approved' });
  return {
    self: [{ href: `${base}/${id}` }],
    collection: [{ href: base }],
    ...(userId > 0 && { author: [{ embeddable: true, href: rest.url(`/wp/v2/users/${userId}`) }] }),
    ...(type && {
      up: [{ embeddable: true, post_type: type.name, href: rest.url(`/wp/v2/${type.restBase}/${postId}`) }],
    }),
    ...(parentId > 0 && { 'in-reply-to': [{ embeddable: true, href: `${base}/${parentId}` }] }),
    ...(replies > 0 && { children: [{ embeddable: true, href: `${base}?parent=${id}` }] }),
  };
}
