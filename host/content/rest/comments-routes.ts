import { contextArgument, restError, RestResponse } from '#plugin-api';
import type { Comment, RestError, RestRequest, RouteDefinition } from '#plugin-api';
import { commentErrors, registrationSetting } from '../comments/comments.ts';
import { readCommentChanges, readNewComment, restores, withoutValues } from './comment-input.ts';
import { commentResponse } from './comment-response.ts';
import { commentIdArgument, commentSchema, commentWriteArguments } from './comment-schema.ts';
import { canReadPost, cannotReadPost, commentsListRoute } from './comments-list.ts';
import {
  created,
  createdResponse,
  deletedSchema,
  passwordArgument,
  publicReadSecurity,
  refused,
  type ContentRestDependencies,
  type Request,
} from './context.ts';

declare module '#plugin-api' {
  interface FilterMap {
    /** Whether guests may comment. Default: the setting `comment_registration` is off. */
    rest_allow_anonymous_comments: (isAllowed: boolean, request: RestRequest) => boolean;
  }
  interface ActionMap {
    /** After REST created (`creating`) or changed a comment. */
    rest_after_insert_comment: (comment: Comment, request: RestRequest, creating: boolean) => void;
    /** After a comment was deleted or moved to the trash over REST. */
    rest_delete_comment: (comment: Comment, response: RestResponse, request: RestRequest) => void;
  }
}

/** `/wp/v2/comments`, with the contexts, permissions and error codes of WordPress. */
export function addCommentsRoutes(given: ContentRestDependencies): void {
  const { rest } = given;
  rest.registerRoute('wp/v2', '/comments', [commentsListRoute(given), createRoute(given)]);
  rest.registerRoute('wp/v2', '/comments/(?P<id>[\\d]+)', [readRoute(given), updateRoute(given), deleteRoute(given)]);
}

async function find({ parts }: ContentRestDependencies, { params }: Pick<Request, 'params'>): Promise<Comment> {
  const comment = await parts.comments.store.get(Number(params['id']));
  if (comment === null) throw commentErrors.rest_comment_invalid_id();
  return comment;
}

function createRoute(given: ContentRestDependencies): RouteDefinition {
  const { comments } = given.parts;
  return {
    methods: ['POST'],
    allowBatch: true,
    args: { ...commentWriteArguments, password: passwordArgument },
    schema: commentSchema,
    summary: 'Creates a comment.',
    security: publicReadSecurity,
    responses: createdResponse,
    permissionBeforeBody: (request) => mayStartComment(given, request),
    permission: (request) => mayCreateComment(given, request),
    async handler(request) {
      const { params, user } = request;
      if (params['id'] !== undefined) return restError(400, 'rest_comment_exists', 'Cannot create existing comment.');
      if (params['type'] !== undefined && params['type'] !== '' && params['type'] !== 'comment')
        return restError(400, 'rest_invalid_comment_type', 'Cannot create a comment with that type.');
      const comment = await readNewComment(given, request);
      const isModerator = user.can('moderate_comments');
      if (!isModerator) await given.countComment(request.ip);
      const stored = await comments.create(comment, user);
      await given.hooks.doActionAsync('rest_after_insert_comment', stored, request, true);
      const context = isModerator ? 'edit' : 'view';
      const response = await commentResponse(given, { comment: stored, request, context });
      return created(response, given.rest.url(`/wp/v2/comments/${stored.id}`));
    },
  };
}

function readRoute(given: ContentRestDependencies): RouteDefinition {
  return {
    methods: ['GET'],
    args: { id: commentIdArgument, context: contextArgument, password: passwordArgument },
    schema: commentSchema,
    summary: 'Reads a comment.',
    security: publicReadSecurity,
    permission: (request) => mayRead(given, request),
    async handler(request) {
      const response = await commentResponse(given, { comment: await find(given, request), request });
      if (request.query['password'] !== undefined) response.headers['Cache-Control'] = 'private, no-store';
      return response;
    },
  };
}

async function mayRead(given: ContentRestDependencies, request: Request): Promise<true | RestError> {
  const { parts } = given;
  const { user, params } = request;
  const comment = await find(given, request);
  if (params['context'] === 'edit' && !user.can('moderate_comments'))
    return refused(request, 'rest_forbidden_context', 'Sorry, you are not allowed to edit comments.');
  const post = await parts.store.get(comment.postId);
  if (post === null) return restError(404, 'rest_post_invalid_id', 'Invalid post ID.');
  const isOwn = user.id > 0 && comment.userId === user.id;
  if (comment.status !== 'approved' && !isOwn && !(await parts.comments.mayModerate(user, comment)))
    return refused(request, 'rest_cannot_read', 'Sorry, you are not allowed to read this comment.');
  return post.status !== 'trash' && (await canReadPost(given, post, request)) ? true : cannotReadPost(user);
}

/** Moderators, and users who may edit the post. */
function mayEdit(given: ContentRestDependencies, code: 'rest_cannot_edit' | 'rest_cannot_delete') {
  const verb = code === 'rest_cannot_edit' ? 'edit' : 'delete';
  return async ({ params, user }: Pick<Request, 'params' | 'user'>): Promise<true | RestError> => {
    const comment = await find(given, { params });
    return (
      (await given.parts.comments.mayModerate(user, comment)) ||
      refused({ user }, code, `Sorry, you are not allowed to ${verb} this comment.`)
    );
  };
}

function updateRoute(given: ContentRestDependencies): RouteDefinition {
  const { comments } = given.parts;
  const allowed = mayEdit(given, 'rest_cannot_edit');
  return {
    methods: ['POST', 'PUT', 'PATCH'],
    allowBatch: true,
    args: { id: commentIdArgument, ...commentWriteArguments },
    summary: 'Updates a comment.',
    permissionBeforeBody: ({ user, url }) => allowed({ user, params: url }),
    permission: allowed,
    async handler(request) {
      const before = await find(given, request);
      if (request.params['type'] !== undefined && request.params['type'] !== 'comment')
        return restError(404, 'rest_comment_invalid_type', 'Sorry, you are not allowed to change the comment type.');
      const changes = await readCommentChanges(given, before, request);
      const restored = restores(request, before) ? await comments.restore(before) : before;
      const comment = withoutValues(changes) ? restored : await comments.update(restored, changes);
      await given.hooks.doActionAsync('rest_after_insert_comment', comment, request, false);
      return commentResponse(given, { comment, request, context: 'edit' });
    },
  };
}

function deleteRoute(given: ContentRestDependencies): RouteDefinition {
  const { parts, hooks } = given;
  return {
    methods: ['DELETE'],
    allowBatch: true,
    args: {
      id: commentIdArgument,
      force: { type: 'boolean', default: false, description: 'Whether to bypass Trash and force deletion.' },
      password: passwordArgument,
    },
    summary: 'Deletes a comment.',
    responses: { 200: { description: 'Deleted or in the trash.', schema: deletedSchema(commentSchema) } },
    permission: mayEdit(given, 'rest_cannot_delete'),
    async handler(request) {
      const comment = await find(given, request);
      const respond = (now: Comment) => commentResponse(given, { comment: now, request, context: 'edit' });
      if (request.params['force'] !== true) {
        if (comment.status === 'trash')
          return restError(410, 'rest_already_trashed', 'The comment has already been trashed.');
        const response = await respond(await parts.comments.update(comment, { status: 'trash' }));
        await hooks.doActionAsync('rest_delete_comment', comment, response, request);
        return response;
      }
      const previous = (await respond(comment)).body;
      await parts.comments.remove(comment);
      const response = new RestResponse({ body: { deleted: true, previous } });
      await hooks.doActionAsync('rest_delete_comment', comment, response, request);
      return response;
    },
  };
}

/** Guests need the setting. Known before the body is read. */
async function mayStartComment(
  { options, hooks }: Pick<ContentRestDependencies, 'options' | 'hooks'>,
  request: Request,
): Promise<true | RestError> {
  if (request.user.id > 0) return true;
  const isFree = (await options.get<unknown>(registrationSetting)) === false;
  return (
    (await hooks.applyFiltersAsync('rest_allow_anonymous_comments', isFree, request)) ||
    restError(401, 'rest_comment_login_required', 'Sorry, you must be logged in to comment.')
  );
}

/** The checks of WordPress, in its order. */
async function mayCreateComment(given: ContentRestDependencies, request: Request): Promise<true | RestError> {
  const { params, user, ip } = request;
  const started = await mayStartComment(given, request);
  if (started !== true) return started;
  const notAllowed = (code: string, name: string): RestError =>
    refused(request, code, `Sorry, you are not allowed to edit '${name}' for comments.`);
  if (!user.can('moderate_comments')) {
    if (params['author'] !== undefined && params['author'] !== user.id)
      return notAllowed('rest_comment_invalid_author', 'author');
    if (params['author_ip'] !== undefined && params['author_ip'] !== ip)
      return notAllowed('rest_comment_invalid_author_ip', 'author_ip');
    if (params['status'] !== undefined) return notAllowed('rest_comment_invalid_status', 'status');
    // Unlike WordPress: a date in the past or future would change the order of a discussion.
    if (params['date'] !== undefined || params['date_gmt'] !== undefined)
      return notAllowed('rest_comment_invalid_date', 'date');
  }
  return mayCommentOn(given, request);
}

async function mayCommentOn(given: ContentRestDependencies, request: Request): Promise<true | RestError> {
  const { store, comments } = given.parts;
  const post = await store.get(Number(request.params['post'] ?? 0));
  if (post === null)
    return restError(
      403,
      'rest_comment_invalid_post_id',
      'Sorry, you are not allowed to create this comment without a post.',
    );
  if (post.status === 'draft' || post.status === 'trash')
    return restError(
      403,
      `rest_comment_${post.status}_post`,
      'Sorry, you are not allowed to create a comment on this post.',
    );
  if (!(await canReadPost(given, post, request))) return cannotReadPost(request.user);
  return (
    (await comments.isOpen(post)) || restError(403, 'rest_comment_closed', 'Sorry, comments are closed for this item.')
  );
}
