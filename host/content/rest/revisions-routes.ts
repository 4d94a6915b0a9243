import {
  argumentBounds,
  contextArgument,
  localIso,
  pagingHeaders,
  restError,
  RestResponse,
  undoAll,
  utcIso,
  wantsLinks,
} from '#plugin-api';
import type { JsonSchema, Post, PostType, RouteDefinition, Undo } from '#plugin-api';
import {
  idArgument,
  refused,
  compactLinks,
  type ContentRestDependencies,
  type Links,
  type Request,
} from './context.ts';
import { longestList } from '../posts/post-store.ts';
import { deletedSchema } from './context.ts';
import { inContext, postSchema } from './post-schema.ts';
import type { FindPost } from './posts-routes.ts';

/** `/wp/v2/{restBase}/<parent>/revisions`: the revisions of a post, for users who can edit it. */
export function addRevisionRoutes(given: ContentRestDependencies, type: PostType, find: FindPost): Undo {
  const { rest } = given;
  const route = `/${type.restBase}/(?P<parent>[\\d]+)/revisions`;
  return undoAll([
    rest.registerRoute('wp/v2', route, listRoute(given, type, find)),
    rest.registerRoute('wp/v2', `${route}/(?P<id>[\\d]+)`, [
      readRoute(given, type, find),
      deleteRoute(given, type, find),
    ]),
  ]);
}

export const parentArgument = {
  description: 'The ID for the parent of the revision.',
  type: 'integer',
  ...argumentBounds.id,
} as const;

function permission(find: FindPost) {
  return async (request: Request) => {
    const post = await findParent(find, request);
    return (
      request.user.can('edit_post', post) ||
      refused(request, 'rest_cannot_read', 'Sorry, you are not allowed to view revisions of this post.')
    );
  };
}

export async function findParent(find: FindPost, request: Request): Promise<Post> {
  try {
    return await find(request, 'parent');
  } catch {
    throw restError(404, 'rest_post_invalid_parent', 'Invalid post parent ID.');
  }
}

function listRoute(given: ContentRestDependencies, type: PostType, find: FindPost): RouteDefinition {
  const {
    parts: { store },
    rest,
  } = given;
  return {
    methods: ['GET'],
    args: {
      parent: parentArgument,
      context: contextArgument,
      page: { type: 'integer', default: 1, ...argumentBounds.id, minimum: 1 },
      per_page: { type: 'integer', default: 100, minimum: 1, maximum: 100 },
    },
    schema: revisionSchema(given, type),
    summary: `Lists the revisions of a ${type.singularLabel.toLowerCase()}, newest first.`,
    permission: permission(find),
    async handler(request) {
      const parent = await findParent(find, request);
      const query = { type: 'revision', status: 'inherit', parents: [parent.id] };
      const [page, perPage] = [Number(request.params['page']), Number(request.params['per_page'])];
      const total = await store.count(query);
      const offset = (page - 1) * perPage;
      const revisions = await store.find({ ...query, limit: perPage, offset }, total, { most: longestList });
      const body = await Promise.all(
        revisions.map(async (revision) => ({
          ...(await revisionBody(given, { type, revision, request })),
          ...(wantsLinks(request) && { _links: compactLinks(revisionLinks(given, type, revision)) }),
        })),
      );
      return new RestResponse({
        body,
        headers: pagingHeaders({
          total,
          page,
          perPage,
          url: rest.url(`/wp/v2/${type.restBase}/${parent.id}/revisions`),
          query: request.query,
        }),
      });
    },
  };
}

function readRoute(given: ContentRestDependencies, type: PostType, find: FindPost): RouteDefinition {
  return {
    methods: ['GET'],
    args: { parent: parentArgument, id: idArgument, context: contextArgument },
    schema: revisionSchema(given, type),
    summary: 'Reads a revision.',
    permission: permission(find),
    async handler(request) {
      const revision = await findRevision(given, await findParent(find, request), request);
      return new RestResponse({
        body: await revisionBody(given, { type, revision, request }),
        ...(wantsLinks(request) && { links: revisionLinks(given, type, revision) }),
      });
    },
  };
}

function deleteRoute(given: ContentRestDependencies, type: PostType, find: FindPost): RouteDefinition {
  return {
    methods: ['DELETE'],
    args: {
      parent: parentArgument,
      id: idArgument,
      force: {
        type: 'boolean',
        default: false,
        description: 'Required to be true, as revisions do not support trashing.',
      },
    },
    summary: 'Deletes a revision.',
    responses: { 200: { description: 'Deleted.', schema: deletedSchema(revisionSchema(given, type)) } },
    permission: async (request) => {
      const parent = await findParent(find, request);
      return (
        request.user.can('delete_post', parent) ||
        refused(request, 'rest_cannot_delete', 'Sorry, you are not allowed to delete this revision.')
      );
    },
    async handler(request) {
      const revision = await findRevision(given, await findParent(find, request), request);
      if (request.params['force'] !== true)
        return restError(
          501,
          'rest_trash_not_supported',
          "Revisions do not support trashing. Set 'force=true' to delete.",
        );
      const previous = await revisionBody(given, { type, revision, request });
      await given.parts.removal.delete(revision.id, { force: true });
      return { deleted: true, previous };
    },
  };
}

async function findRevision(
  { parts: { store } }: ContentRestDependencies,
  parent: Post,
  { params }: Request,
): Promise<Post> {
  const revision = await store.get(Number(params['id']));
  if (revision?.type !== 'revision' || revision.parentId !== parent.id)
    throw restError(404, 'rest_post_invalid_id', 'Invalid revision ID.');
  return revision;
}

export function revisionSchema({ parts }: ContentRestDependencies, type: PostType): JsonSchema {
  const { properties = {} } = postSchema(type, parts);
  const shown = [
    'author',
    'date',
    'date_gmt',
    'guid',
    'id',
    'modified',
    'modified_gmt',
    'slug',
    'title',
    'content',
    'excerpt',
  ];
  const members = Object.entries(properties).filter(([name]) => shown.includes(name));
  return {
    title: `${type.name}-revision`,
    type: 'object',
    properties: { ...Object.fromEntries(members), parent: { type: 'integer', context: ['view', 'edit', 'embed'] } },
  };
}

export async function revisionBody(
  given: ContentRestDependencies,
  { type, revision, request }: { type: PostType; revision: Post; request: Request },
): Promise<Record<string, unknown>> {
  const {
    parts: { renderer },
    site,
  } = given;
  const timezone = await site.timezone();
  const address = `${site.url}/?p=${revision.id}`;
  const body = {
    author: revision.authorId,
    date: localIso(revision.date, timezone),
    date_gmt: utcIso(revision.date),
    id: revision.id,
    modified: localIso(revision.modified, timezone),
    modified_gmt: utcIso(revision.modified),
    parent: revision.parentId,
    slug: revision.slug,
    guid: { rendered: address, raw: address },
    title: { raw: revision.title, rendered: await renderer.title(revision) },
    content: { raw: revision.content, rendered: await renderer.content(revision) },
    excerpt: { raw: revision.excerpt, rendered: await renderer.excerpt(revision) },
  };
  return inContext(body, revisionSchema(given, type), String(request.params['context'] ?? 'edit'));
}

export function revisionLinks({ rest }: ContentRestDependencies, type: PostType, { parentId }: Post): Links {
  return { parent: [{ href: rest.url(`/wp/v2/${type.restBase}/${parentId}`) }] };
}
