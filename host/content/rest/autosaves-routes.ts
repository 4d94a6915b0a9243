import { contextArgument, restError, RestResponse, undoAll, wantsLinks, withoutUndefined } from '#plugin-api';
import type { JsonSchema, Post, PostType, RestError, RouteDefinition, Undo } from '#plugin-api';
import { autosaveSlug } from '../posts/post-store.ts';
import { compactLinks, idArgument, refused, type ContentRestDependencies, type Request } from './context.ts';
import { readPostInput } from './post-input.ts';
import type { FindPost } from './posts-routes.ts';
import { findParent, parentArgument, revisionBody, revisionLinks, revisionSchema } from './revisions-routes.ts';
import { writeArguments } from './post-schema.ts';

interface AutosavedPosts {
  readonly find: FindPost;
  /** Updates a post as a request says. */
  readonly write: (update: {
    readonly given: ContentRestDependencies;
    readonly type: PostType;
    readonly request: Request;
    readonly before: Post;
  }) => Promise<Post>;
}

/**
 * `/wp/v2/{restBase}/<parent>/autosaves`: what an editor saves while a user types, one autosave for each user and post.
 * Unlike WordPress, an autosave is read by its id, not by its post alone.
 */
export function addAutosaveRoutes(given: ContentRestDependencies, type: PostType, posts: AutosavedPosts): Undo {
  const { rest } = given;
  const { find } = posts;
  const route = (name: string): string => `/${type.restBase}/(?P<${name}>[\\d]+)/autosaves`;
  return undoAll([
    rest.registerRoute('wp/v2', route('id'), [listRoute(given, type, find), createRoute(given, type, posts)]),
    rest.registerRoute('wp/v2', `${route('parent')}/(?P<id>[\\d]+)`, readRoute(given, type, find)),
  ]);
}

const postArgument = { ...idArgument, description: 'The ID for the parent of the autosave.' };

/** The post of the path: a body cannot name another. */
async function findPost(find: FindPost, { url }: Pick<Request, 'url'>): Promise<Post> {
  try {
    return await find({ params: url }, 'id');
  } catch {
    throw restError(404, 'rest_post_invalid_parent', 'Invalid post parent ID.');
  }
}

function mayRead({ user }: Pick<Request, 'user'>, post: Post): true | RestError {
  return (
    user.can('edit_post', post) ||
    refused({ user }, 'rest_cannot_read', 'Sorry, you are not allowed to view autosaves of this post.')
  );
}

function listRoute(given: ContentRestDependencies, type: PostType, find: FindPost): RouteDefinition {
  const { store } = given.parts;
  return {
    methods: ['GET'],
    args: { id: postArgument, context: contextArgument },
    schema: autosaveSchema(given, type),
    summary: `Lists the autosaves of a ${type.singularLabel.toLowerCase()}, one for each user, newest first.`,
    permission: async (request) => mayRead(request, await findPost(find, request)),
    async handler(request) {
      const parent = await findPost(find, request);
      const autosaves = await Promise.all((await store.autosaveIds(parent.id)).map((id) => store.get(id)));
      return Promise.all(
        autosaves
          .filter((autosave) => autosave !== null)
          .map(async (autosave) => ({
            ...(await autosaveBody(given, { type, autosave, request })),
            ...(wantsLinks(request) && { _links: compactLinks(revisionLinks(given, type, autosave)) }),
          })),
      );
    },
  };
}

function readRoute(given: ContentRestDependencies, type: PostType, find: FindPost): RouteDefinition {
  return {
    methods: ['GET'],
    args: { parent: parentArgument, id: idArgument, context: contextArgument },
    schema: autosaveSchema(given, type),
    summary: 'Reads an autosave.',
    permission: async (request) => mayRead(request, await findParent(find, request)),
    async handler(request) {
      const parent = await findParent(find, request);
      const autosave = await given.parts.store.get(Number(request.params['id']));
      if (autosave?.parentId !== parent.id || autosave.slug !== autosaveSlug(parent.id))
        return restError(404, 'rest_post_no_autosave', 'There is no autosave revision for this post.');
      return toResponse(given, { type, autosave, request });
    },
  };
}

function createRoute(given: ContentRestDependencies, type: PostType, { find, write }: AutosavedPosts): RouteDefinition {
  const mayEdit = async (request: Pick<Request, 'url' | 'user'>): Promise<true | RestError> =>
    request.user.can('edit_post', await findPost(find, request)) ||
    refused(request, 'rest_cannot_edit', 'Sorry, you are not allowed to edit this post.');
  return {
    methods: ['POST'],
    args: { ...writeArguments(type, given.parts, false), id: postArgument },
    schema: autosaveSchema(given, type),
    summary: 'Saves what a user has typed. A draft of the same author is updated instead.',
    permissionBeforeBody: mayEdit,
    permission: mayEdit,
    async handler(request) {
      const post = await findPost(find, request);
      const isOwnDraft = ['draft', 'auto-draft'].includes(post.status) && post.authorId === request.user.id;
      const autosave = isOwnDraft
        ? await write({ given, type, request, before: post })
        : await saveRevision(given, { type, post, request });
      if (autosave === null)
        return restError(
          400,
          'rest_autosave_no_changes',
          'There is nothing to save. The autosave and the post content are the same.',
        );
      return toResponse(given, { type, autosave, request, context: 'edit' });
    },
  };
}

/** Null: the text equals the post. */
async function saveRevision(
  given: ContentRestDependencies,
  { type, post, request }: { readonly type: PostType; readonly post: Post; readonly request: Request },
): Promise<Post | null> {
  const read = await readPostInput(given, { type, request, params: request.params, before: post });
  const { title, content, excerpt } = read;
  return given.parts.autosaves.save(post, withoutUndefined({ title, content, excerpt }), request.user);
}

/** The same request with other parameters. Its other members are read when they are used. */
function withParams(request: Request, params: Request['params']): Request {
  return Object.create(request, { params: { value: params, enumerable: true } }) as Request;
}

interface ShownAutosave {
  readonly type: PostType;
  readonly autosave: Post;
  readonly request: Request;
  /** Default: that of the request. */
  readonly context?: 'edit';
}

async function toResponse(given: ContentRestDependencies, shown: ShownAutosave): Promise<RestResponse> {
  return new RestResponse({
    body: await autosaveBody(given, shown),
    ...(wantsLinks(shown.request) && { links: revisionLinks(given, shown.type, shown.autosave) }),
  });
}

/** A revision with the link to its preview. For a draft that was updated itself, the post has no parent. */
async function autosaveBody(
  given: ContentRestDependencies,
  { type, autosave, request, context }: ShownAutosave,
): Promise<Record<string, unknown>> {
  const params = context === undefined ? request.params : { ...request.params, context };
  const body = await revisionBody(given, { type, revision: autosave, request: withParams(request, params) });
  const postId = autosave.type === 'revision' ? autosave.parentId : autosave.id;
  const isShown = (params['context'] ?? 'edit') === 'edit';
  return { ...body, ...(isShown && { preview_link: `${given.site.url}/?p=${postId}&preview=true` }) };
}

function autosaveSchema(given: ContentRestDependencies, type: PostType): JsonSchema {
  const { properties = {}, ...schema } = revisionSchema(given, type);
  const link = {
    type: 'string',
    format: 'uri',
    readOnly: true,
    context: ['edit'],
    description: 'Preview link.',
  } as const;
  return { ...schema, properties: { ...properties, preview_link: link } };
}
