import { contextArgument, restError, RestResponse, undoAll } from '#plugin-api';
import type { Post, PostType, RestError, RouteDefinition, Undo } from '#plugin-api';
import { contentErrors } from '../errors.ts';
import {
  postUrl,
  created,
  idArgument,
  passwordArgument,
  refused,
  type ContentRestDependencies,
  type Request,
} from './context.ts';
import { createdResponse, deletedSchema, publicReadSecurity } from './context.ts';
import { createPostResponses, type PostResponses } from './post-response.ts';
import { checkReferences, readPostInput } from './post-input.ts';
import { postSchema, writeArguments } from './post-schema.ts';
import { updateFields, writesFields } from './rest-fields.ts';
import { postsListRoute } from './posts-list.ts';
import { addAutosaveRoutes } from './autosaves-routes.ts';
import { addRevisionRoutes } from './revisions-routes.ts';
import { uploadRoute } from './upload-route.ts';

/** The routes of one type: list, create, read, update, delete, and revisions if supported. */
export function addPostsRoutes(given: ContentRestDependencies, type: PostType): Undo {
  const { rest } = given;
  const postResponses = createPostResponses(given, type);
  const find = createFind(given, type);
  const base = `/${type.restBase}`;
  const create =
    type.name === 'attachment' ? uploadRoute(given, type, postResponses) : createRoute(given, type, postResponses);
  return undoAll([
    rest.registerRoute('wp/v2', base, [postsListRoute(given, type, postResponses), create]),
    rest.registerRoute('wp/v2', `${base}/(?P<id>[\\d]+)`, [
      readRoute({ given, type, postResponses, find }),
      updateRoute({ given, type, postResponses, find }),
      deleteRoute({ given, type, postResponses, find }),
    ]),
    ...(type.supports.includes('revisions') ? [addRevisionRoutes(given, type, find)] : []),
    ...(type.supports.includes('editor') && type.name !== 'attachment'
      ? [addAutosaveRoutes(given, type, { find, write })]
      : []),
  ]);
}

export type FindPost = (request: Pick<Request, 'params'>, name?: string) => Promise<Post>;

/** @throws RestError 404 for a missing post or another type. */
function createFind({ parts: { store } }: ContentRestDependencies, type: PostType): FindPost {
  return async ({ params }, name = 'id') => {
    const post = await store.get(Number(params[name]));
    if (post === null || post.type !== type.name) throw contentErrors.rest_post_invalid_id();
    // Loads the parent post, because it decides who can read the attachment.
    if (post.status === 'inherit' && post.parentId > 0) await store.get(post.parentId);
    return post;
  };
}

interface OneRoute {
  readonly given: ContentRestDependencies;
  readonly type: PostType;
  readonly postResponses: PostResponses;
  readonly find: FindPost;
}

function createRoute(given: ContentRestDependencies, type: PostType, postResponses: PostResponses): RouteDefinition {
  const mayCreate = (request: Request): true | RestError =>
    request.user.can(type.capabilities.create_posts) ||
    refused(request, 'rest_cannot_create', 'Sorry, you are not allowed to create posts as this user.');
  return {
    methods: ['POST'],
    allowBatch: true,
    args: writeArguments(type, given.parts, true),
    schema: postSchema(type, given.parts),
    summary: `Creates a ${type.singularLabel.toLowerCase()}.`,
    responses: createdResponse,
    permissionBeforeBody: mayCreate,
    validate: (request) => checkReferences(given, { type, request, params: request.params, before: null }),
    permission: (request) => {
      const allowed = mayCreate(request);
      return allowed === true ? (mayAssign(request, type, null) ?? true) : allowed;
    },
    async handler(request) {
      if (request.params['id'] !== undefined) return restError(400, 'rest_post_exists', 'Cannot create existing post.');
      const post = await write({ given, type, request, before: null });
      return created(await postResponses.one(post, request, 'edit'), postUrl(given, type, post));
    },
  };
}

function mayAssign({ params, user }: Request, type: PostType, before: Post | null): RestError | null {
  const author = params['author'];
  if (
    typeof author !== 'number' ||
    author === user.id ||
    author === before?.authorId ||
    user.can(type.capabilities.edit_others_posts)
  )
    return null;
  return refused(
    { user },
    'rest_cannot_edit_others',
    `Sorry, you are not allowed to ${before === null ? 'create' : 'update'} posts as this user.`,
  );
}

async function write({
  given,
  type,
  request,
  before,
}: {
  given: ContentRestDependencies;
  type: PostType;
  request: Request;
  before: Post | null;
}): Promise<Post> {
  const { hooks, parts } = given;
  const read = await readPostInput(given, { type, request, params: request.params, before });
  const input = (await hooks.applyFiltersAsync(`rest_pre_insert_${type.name}`, read, request)) as typeof read;
  const save = async (): Promise<Post> => {
    const post =
      before === null
        ? await parts.writer.create({ ...input, type: type.name }, { as: request.user })
        : await parts.writer.update(before.id, input, { as: request.user });
    await hooks.doActionAsync(`rest_insert_${type.name}`, post, request, before === null);
    await updateFields(parts.fields, { type: type.name, item: post, request });
    return post;
  };
  // A field that refuses leaves nothing behind.
  const post = await (writesFields(parts.fields, type.name, request) ? given.transaction(save) : save());
  await hooks.doActionAsync(`rest_after_insert_${type.name}`, post, request, before === null);
  return post;
}

function readRoute({ given, type, postResponses, find }: OneRoute): RouteDefinition {
  return {
    methods: ['GET'],
    args: {
      id: idArgument,
      context: contextArgument,
      ...(type.name !== 'attachment' && { password: passwordArgument }),
    },
    schema: postSchema(type, given.parts),
    summary: `Reads a ${type.singularLabel.toLowerCase()}.`,
    security: publicReadSecurity,
    permission: async (request) => {
      const post = await find(request);
      if (request.params['context'] === 'edit' && !request.user.can('edit_post', post))
        return refused(request, 'rest_forbidden_context', 'Sorry, you are not allowed to edit this post.');
      return (
        request.user.can('read_post', post) && (knownPassword(request) === '' || checkPassword(given, post, request))
      );
    },
    async handler(request) {
      const post = await find(request);
      const response = await (knownPassword(request) === ''
        ? postResponses.one(post, request)
        : postResponses.unlocked(post, request));
      if (type.public)
        response.headers['Link'] = `<${await given.parts.permalinks.url(post)}>; rel="alternate"; type=text/html`;
      return response;
    },
  };
}

/** As in WordPress, read from the query only. */
function knownPassword({ query, params }: Request): string {
  return query['password'] !== undefined && typeof params['password'] === 'string' ? params['password'] : '';
}

async function checkPassword(
  { passwords }: ContentRestDependencies,
  post: Post,
  request: Request,
): Promise<true | RestError> {
  return (
    (await passwords.check(post, knownPassword(request), request.ip)) ||
    restError(403, 'rest_post_incorrect_password', 'Incorrect post password.')
  );
}

function updateRoute({ given, type, postResponses, find }: OneRoute): RouteDefinition {
  const mayEdit = async ({ params, user }: Pick<Request, 'params' | 'user'>): Promise<true | RestError> => {
    const post = await find({ params });
    return (
      user.can('edit_post', post) ||
      refused({ user }, 'rest_cannot_edit', 'Sorry, you are not allowed to edit this post.')
    );
  };
  return {
    methods: ['POST', 'PUT', 'PATCH'],
    allowBatch: true,
    args: { id: idArgument, ...writeArguments(type, given.parts, false) },
    validate: async (request) =>
      checkReferences(given, { type, request, params: request.params, before: await find(request) }),
    summary: `Updates a ${type.singularLabel.toLowerCase()}.`,
    permissionBeforeBody: ({ user, url }) => mayEdit({ user, params: url }),
    permission: async (request) => {
      const allowed = await mayEdit(request);
      return allowed === true ? (mayAssign(request, type, await find(request)) ?? true) : allowed;
    },
    async handler(request) {
      const post = await write({ given, type, request, before: await find(request) });
      return postResponses.one(post, request, 'edit');
    },
  };
}

function deleteRoute({ given, type, postResponses, find }: OneRoute): RouteDefinition {
  const { parts, hooks } = given;
  return {
    methods: ['DELETE'],
    allowBatch: true,
    args: {
      id: idArgument,
      force: { type: 'boolean', default: false, description: 'Whether to bypass Trash and force deletion.' },
    },
    summary: `Deletes a ${type.singularLabel.toLowerCase()}, or moves it to the trash.`,
    responses: {
      200: {
        description: 'The post in the trash, or with force the deleted post.',
        schema: { anyOf: [postSchema(type, parts), deletedSchema(postSchema(type, parts))] },
      },
    },
    permission: async (request) =>
      request.user.can('delete_post', await find(request)) ||
      refused(request, 'rest_cannot_delete', 'Sorry, you are not allowed to delete this post.'),
    async handler(request) {
      const post = await find(request);
      const force = request.params['force'] === true;
      if (!force && type.name === 'attachment')
        return restError(
          501,
          'rest_trash_not_supported',
          "The post does not support trashing. Set 'force=true' to delete.",
        );
      if (!force && post.status === 'trash')
        return restError(410, 'rest_already_trashed', 'The post has already been deleted.');
      const previous = force ? (await postResponses.one(post, request, 'edit')).body : null;
      const removed = await parts.removal.delete(post.id, { force });
      const left = await parts.store.get(post.id);
      if (removed === null || (left !== null && left.status !== 'trash'))
        return restError(500, 'rest_cannot_delete', 'The post cannot be deleted.');
      const response = force
        ? new RestResponse({ body: { deleted: true, previous } })
        : await postResponses.one(removed, request, 'edit');
      await hooks.doActionAsync(`rest_delete_${type.name}`, removed, response, request);
      return response;
    },
  };
}
