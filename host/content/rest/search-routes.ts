import { argumentBounds, collectionArguments, pagingHeaders, RestResponse, wantsLinks } from '#plugin-api';
import type {
  JsonSchema,
  RouteArgument,
  RouteDefinition,
  SearchRequest,
  SearchResult,
  Taxonomy,
  Undo,
  User,
} from '#plugin-api';
import type { NamedSearchHandler } from '../content.ts';
import { compactLinks, publicReadSecurity, type ContentRestDependencies, type Request } from './context.ts';
import { allowedOn } from './post-response.ts';
import { escapeName } from './terms-routes.ts';

const contexts = ['view', 'embed'];
const readOnly = true;

/** `GET /wp/v2/search`: posts, terms, and what plugins add. The choices follow what is registered. */
export function addSearchRoute(given: ContentRestDependencies): void {
  const { parts, rest } = given;
  parts.searchHandlers.add({ name: 'post', ...postHandler(given) });
  parts.searchHandlers.add({ name: 'term', ...termHandler(given) });
  // Posts have no formats here, so there is none to find.
  parts.searchHandlers.add({
    name: 'post-format',
    subtypes: () => [],
    find: async () => ({ results: [], total: 0 }),
  });
  let undo: Undo = () => undefined;
  const refresh = (): Undo => {
    undo();
    undo = rest.registerRoute('wp/v2', '/search', searchRoute(given));
    return () => void queueMicrotask(refresh);
  };
  parts.searchHandlers.follow(refresh);
  parts.types.follow(refresh);
  parts.taxonomies.follow(refresh);
}

function searchRoute(given: ContentRestDependencies): RouteDefinition {
  const handlers = given.parts.searchHandlers.all();
  const types = handlers.map(({ name }) => name);
  const subtypes = [...new Set(handlers.flatMap((handler) => handler.subtypes()))];
  return {
    methods: ['GET'],
    args: searchArguments(types, subtypes),
    schema: searchSchema(types, subtypes),
    summary: 'Searches the site.',
    security: publicReadSecurity,
    permission: () => true,
    handler: (request) => search(given, request),
  };
}

function searchArguments(types: readonly string[], subtypes: readonly string[]): Record<string, RouteArgument> {
  const { offset: _none, include, exclude, ...common } = collectionArguments;
  return {
    ...common,
    context: { ...common.context, enum: contexts },
    type: { default: 'post', description: 'Limit results to items of an object type.', type: 'string', enum: types },
    subtype: {
      default: 'any',
      description: 'Limit results to items of one or more object subtypes.',
      type: 'array',
      ...argumentBounds.list,
      items: { enum: [...subtypes, 'any'], type: 'string' },
    },
    exclude: { ...exclude, default: [] },
    include: { ...include, default: [] },
  };
}

function searchSchema(types: readonly string[], subtypes: readonly string[]): JsonSchema {
  const context = contexts;
  return {
    title: 'search-result',
    type: 'object',
    properties: {
      id: { description: 'Unique identifier for the object.', type: ['integer', 'string'], context, readOnly },
      title: { description: 'The title for the object.', type: 'string', context, readOnly },
      url: { description: 'URL to the object.', type: 'string', format: 'uri', context, readOnly },
      type: { description: 'Object type.', type: 'string', enum: types, context, readOnly },
      subtype: { description: 'Object subtype.', type: 'string', enum: subtypes, context, readOnly },
    },
  };
}

async function search({ parts, rest }: ContentRestDependencies, request: Request): Promise<RestResponse> {
  const { params } = request;
  const handler = parts.searchHandlers.get(String(params['type']));
  const [page, perPage] = [Number(params['page']), Number(params['per_page'])];
  const { results, total } =
    handler === undefined
      ? { results: [], total: 0 }
      : await handler.find({ ...readSearch(handler, request), page, perPage });
  return new RestResponse({
    body: results.map((result) => toItem(rest, { result, request, type: handler?.name ?? '' })),
    headers: searchHeaders({ total, page, perPage, url: rest.url('/wp/v2/search'), query: request.query }),
  });
}

/** As in WordPress, a page past the last one has no total, and the one before it as its predecessor. */
function searchHeaders(paging: Parameters<typeof pagingHeaders>[0]): Record<string, string> {
  const { total, page, perPage } = paging;
  const pages = Math.ceil(total / perPage);
  if (page <= Math.max(1, pages)) return pagingHeaders(paging);
  const { Link } = pagingHeaders({ ...paging, total: (page - 1) * perPage });
  return { 'X-WP-Total': '0', 'X-WP-TotalPages': '0', ...(Link !== undefined && { Link }) };
}

function readSearch(handler: NamedSearchHandler, { params, user }: Request): Omit<SearchRequest, 'page' | 'perPage'> {
  const own = handler.subtypes();
  const wanted = [params['subtype']].flat().map(String);
  const known = own.filter((subtype) => wanted.includes(subtype));
  return {
    search: typeof params['search'] === 'string' ? params['search'] : '',
    subtypes: wanted.includes('any') || known.length === 0 ? own : known,
    include: params['include'] as number[],
    exclude: params['exclude'] as number[],
    user,
  };
}

function toItem(
  rest: ContentRestDependencies['rest'],
  { result, request, type }: { result: SearchResult; request: Request; type: string },
): Record<string, unknown> {
  const { route, aboutRoute, allow = ['GET'] } = result;
  const links = {
    ...(route !== undefined && {
      self: [{ embeddable: true, href: rest.url(route), targetHints: { allow } }],
    }),
    ...(aboutRoute !== undefined && { about: [{ href: rest.url(aboutRoute) }] }),
    collection: [{ href: rest.url('/wp/v2/search') }],
  };
  return {
    id: result.id,
    title: result.title,
    url: result.url,
    type: result.type ?? type,
    ...(result.subtype !== undefined && { subtype: result.subtype }),
    ...(wantsLinks(request) && { _links: compactLinks(links) }),
  };
}

/** Published posts of the public types, whatever the user may read besides. */
function postHandler({ parts }: ContentRestDependencies): Omit<NamedSearchHandler, 'name'> {
  const { store, types, permalinks, renderer } = parts;
  return {
    subtypes: () =>
      types
        .all()
        .filter(({ public: isPublic, showInRest, name }) => isPublic && showInRest && name !== 'attachment')
        .map(({ name }) => name),
    async find({ search, subtypes, include, exclude, page, perPage, user }) {
      const query = {
        type: subtypes,
        ...(search !== '' && { search }),
        ...(include.length > 0 && { include }),
        exclude,
        visibleTo: user,
      };
      const offset = (page - 1) * perPage;
      const posts = await store.find({ ...query, limit: perPage, offset }, undefined, { read: false });
      const results = posts.map(async (post): Promise<SearchResult> => ({
        id: post.id,
        title: await renderer.title(post),
        url: await permalinks.url(post),
        subtype: post.type,
        route: `/wp/v2/${types.get(post.type)?.restBase ?? post.type}/${post.id}`,
        aboutRoute: `/wp/v2/types/${post.type}`,
        allow: allowedOn(post, user),
      }));
      return { results: await Promise.all(results), total: await store.count(query) };
    },
  };
}

function termHandler({ parts }: ContentRestDependencies): Omit<NamedSearchHandler, 'name'> {
  const { taxonomies, terms } = parts;
  return {
    subtypes: () =>
      taxonomies
        .all()
        .filter(({ public: isPublic, showInRest }) => isPublic && showInRest)
        .map(({ name }) => name),
    async find({ search, subtypes, include, exclude, page, perPage, user }) {
      const query = { taxonomy: subtypes, search, exclude, ...(include.length > 0 && { include }) };
      const found = await terms.find({ ...query, limit: perPage, offset: (page - 1) * perPage });
      const links = await terms.links(found);
      const results = found.map(async (term): Promise<SearchResult> => {
        const taxonomy = taxonomies.get(term.taxonomy);
        const isFixed = await terms.isDefault(term);
        return {
          id: term.id,
          title: escapeName(term.name),
          url: links.get(term.id) ?? '',
          type: term.taxonomy,
          route: `/wp/v2/${taxonomy?.restBase ?? term.taxonomy}/${term.id}`,
          aboutRoute: `/wp/v2/taxonomies/${term.taxonomy}`,
          allow: taxonomy === undefined ? ['GET'] : allowedOnTerm(taxonomy, user, isFixed),
        };
      });
      return { results: await Promise.all(results), total: await terms.count(query) };
    },
  };
}

function allowedOnTerm({ capabilities }: Taxonomy, user: User, isFixed: boolean): string[] {
  return [
    'GET',
    ...(user.can(capabilities.edit_terms) ? ['POST', 'PUT', 'PATCH'] : []),
    ...(!isFixed && user.can(capabilities.delete_terms) ? ['DELETE'] : []),
  ];
}
