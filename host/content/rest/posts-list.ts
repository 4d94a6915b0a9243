import {
  argumentBounds,
  collectionArguments,
  idsArgument,
  momentArgument,
  momentOf,
  orderArgument,
  withoutUndefined,
} from '#plugin-api';
import { pagingHeaders, RestResponse, restError, slugsArgument } from '#plugin-api';
import type { Post, PostQuery, PostType, RouteArgument, RouteDefinition } from '#plugin-api';
import { refused, type ContentRestDependencies, type Request } from './context.ts';
import { publicReadSecurity } from './context.ts';
import { longestList } from '../posts/post-store.ts';
import type { PostResponses } from './post-response.ts';
import { postSchema } from './post-schema.ts';
import { readTermFilters, termFilterArguments } from './post-terms.ts';

const orders: Readonly<Record<string, NonNullable<PostQuery['orderBy']>>> = {
  author: 'author',
  date: 'date',
  id: 'id',
  include: 'include',
  modified: 'modified',
  parent: 'parent',
  relevance: 'relevance',
  slug: 'slug',
  include_slugs: 'slug',
  title: 'title',
};

const mediaArguments: Readonly<Record<string, RouteArgument>> = {
  media_type: {
    description: 'Limit result set to attachments of a particular media type.',
    type: 'string',
    enum: ['image', 'video', 'text', 'application', 'audio'],
  },
  mime_type: {
    description: 'Limit result set to attachments of a particular MIME type.',
    type: 'string',
    ...argumentBounds.key,
  },
};

const rangeArguments: Readonly<Record<string, RouteArgument>> = {
  after: { ...momentArgument, description: 'Limit response to posts published after a given ISO8601 compliant date.' },
  before: {
    ...momentArgument,
    description: 'Limit response to posts published before a given ISO8601 compliant date.',
  },
  modified_after: {
    ...momentArgument,
    description: 'Limit response to posts modified after a given ISO8601 compliant date.',
  },
  modified_before: {
    ...momentArgument,
    description: 'Limit response to posts modified before a given ISO8601 compliant date.',
  },
  author: { ...idsArgument, description: 'Limit result set to posts assigned to specific authors.' },
  author_exclude: { ...idsArgument, description: 'Ensure result set excludes posts assigned to specific authors.' },
};

function listArguments(given: ContentRestDependencies, type: PostType): Record<string, RouteArgument> {
  const isMedia = type.name === 'attachment';
  return {
    ...collectionArguments,
    ...rangeArguments,
    order: orderArgument('desc'),
    orderby: {
      description: 'Sort collection by post attribute.',
      type: 'string',
      default: 'date',
      enum: [...Object.keys(orders), ...(hasOrder(type) ? ['menu_order'] : [])],
    },
    slug: { ...slugsArgument, description: 'Limit result set to posts with one or more specific slugs.' },
    status: statusArgument(given, type),
    ...(hasOrder(type) && {
      menu_order: {
        description: 'Limit result set to posts with a specific menu_order value.',
        type: 'integer',
        ...argumentBounds.integer,
      } as const,
    }),
    ...((type.hierarchical || isMedia) && {
      parent: { ...idsArgument, description: 'Limit result set to items with particular parent IDs.' },
      parent_exclude: {
        ...idsArgument,
        description: 'Limit result set to all items except those of a particular parent ID.',
      },
    }),
    ...termFilterArguments(given.parts, type),
    ...(isMedia && mediaArguments),
  };
}

function hasOrder(type: PostType): boolean {
  return type.supports.includes('page-attributes');
}

/** A list of statuses. Rejects those that the user cannot query. */
function statusArgument({ parts: { statuses } }: ContentRestDependencies, type: PostType): RouteArgument {
  const usual = type.name === 'attachment' ? 'inherit' : 'publish';
  const read = (value: unknown): string[] => {
    const names = Array.isArray(value) ? value.map(String) : String(value).split(/[\s,]+/);
    return [...new Set(names)].filter((name) => name !== '');
  };
  const isListed = (name: string): boolean =>
    name === 'any' || name === 'trash' || name === usual || statuses.get(name)?.internal === false;
  return {
    description: 'Limit result set to posts assigned one or more statuses.',
    type: 'array',
    ...argumentBounds.list,
    items: { type: 'string', ...argumentBounds.key },
    default: usual,
    validate: (value, { user }) => {
      for (const name of read(value)) {
        if (!isListed(name))
          return `status[0] is not one of any, ${statuses
            .all()
            .filter((status) => !status.internal)
            .map((status) => status.name)
            .join(', ')}.`;
        const isFree =
          name === usual ||
          user.can(type.capabilities.edit_posts) ||
          (name === 'private' && user.can(type.capabilities.read_private_posts));
        if (!isFree) return restError(user.id === 0 ? 401 : 403, 'rest_forbidden_status', 'Status is forbidden.');
      }
      return true;
    },
    sanitize: read,
  };
}

/** `GET /wp/v2/{restBase}`: the posts that the caller can read, in pages. */
export function postsListRoute(
  given: ContentRestDependencies,
  type: PostType,
  postResponses: PostResponses,
): RouteDefinition {
  const { parts, hooks, site, rest } = given;
  return {
    methods: ['GET'],
    args: listArguments(given, type),
    schema: postSchema(type, parts),
    summary: `Lists ${type.label.toLowerCase()}.`,
    security: publicReadSecurity,
    permission: (request) => {
      if (request.params['context'] !== 'edit' || request.user.can(type.capabilities.edit_posts)) return true;
      return refused(request, 'rest_forbidden_context', 'Sorry, you are not allowed to edit posts in this post type.');
    },
    async handler(request) {
      const { params, user } = request;
      if (params['orderby'] === 'relevance' && !params['search'])
        return restError(400, 'rest_no_search_term_defined', 'You need to define a search term to order by relevance.');
      if (params['orderby'] === 'include' && !hasItems(params['include']))
        return restError(
          400,
          'rest_orderby_include_missing_include',
          'You need to define an include parameter to order by include.',
        );
      const wanted = {
        ...readQuery(request, type, await site.timezone()),
        ...readTermFilters(parts, type, params),
        visibleTo: user,
      };
      const query = (await hooks.applyFiltersAsync(`rest_${type.name}_query`, wanted, request)) as PostQuery;
      const [page, perPage] = [Number(params['page']), Number(params['per_page'])];
      const total = await parts.store.count(query);
      if (page > Math.max(1, Math.ceil(total / perPage)) && total > 0 && params['offset'] === undefined) {
        return restError(
          400,
          'rest_post_invalid_page_number',
          'The page number requested is larger than the number of pages available.',
        );
      }
      const offset = Number(params['offset'] ?? (page - 1) * perPage);
      const posts = await parts.store.find({ ...query, limit: perPage, offset }, total, { most: longestList });
      return new RestResponse({
        body: await postResponses.many(posts.filter(isShown(request)), request),
        headers: pagingHeaders({
          total,
          page,
          perPage,
          url: rest.url(`/wp/v2/${type.restBase}`),
          query: request.query,
        }),
      });
    },
  };
}

/** As in WordPress, the context `edit` leaves out posts that the user cannot edit. */
function isShown({ params, user }: Request): (post: Post) => boolean {
  return (post) => params['context'] !== 'edit' || user.can('edit_post', post);
}

function readQuery({ params }: Request, type: PostType, timezone: string): PostQuery {
  const numbers = (name: string): number[] | undefined =>
    hasItems(params[name]) ? (params[name] as number[]) : undefined;
  const time = (name: string): number | undefined =>
    typeof params[name] === 'string' ? (momentOf(params[name], timezone) ?? undefined) : undefined;
  const orderBy = params['orderby'] === 'menu_order' ? 'menuOrder' : orders[String(params['orderby'])];
  const mimeType = params['mime_type'] ?? params['media_type'];
  return withoutUndefined({
    type: type.name,
    status: params['status'] as string[],
    search: typeof params['search'] === 'string' && params['search'] !== '' ? params['search'] : undefined,
    slugs: hasItems(params['slug']) ? (params['slug'] as string[]) : undefined,
    include: numbers('include'),
    exclude: numbers('exclude'),
    authors: numbers('author'),
    authorsExclude: numbers('author_exclude'),
    parents: numbers('parent'),
    parentsExclude: numbers('parent_exclude'),
    before: time('before'),
    after: time('after'),
    modifiedBefore: time('modified_before'),
    modifiedAfter: time('modified_after'),
    menuOrder: typeof params['menu_order'] === 'number' ? params['menu_order'] : undefined,
    mimeType: typeof mimeType === 'string' ? mimeType : undefined,
    orderBy,
    order: params['order'] as 'asc' | 'desc',
  });
}

function hasItems(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.length > 0;
}
