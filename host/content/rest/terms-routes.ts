import { contextArgument, pagingHeaders, restError, RestResponse, undoAll, wantsLinks } from '#plugin-api';
import type {
  JsonSchema,
  RestError,
  RouteDefinition,
  Taxonomy,
  Term,
  TermInput,
  TermQuery,
  Undo,
  User,
} from '#plugin-api';
import { contentErrors } from '../errors.ts';
import {
  compactLinks,
  created,
  createdResponse,
  deletedSchema,
  publicReadSecurity,
  refused,
  type ContentRestDependencies,
  type Context,
  type Links,
  type Request,
} from './context.ts';
import { inContext } from './post-schema.ts';
import { updateFields, withFields, writesFields } from './rest-fields.ts';
import { termIdArgument, termListArguments, termSchema, termWriteArguments } from './term-schema.ts';

declare module '#plugin-api' {
  interface FilterMap {
    /** Also as `rest_{taxonomy}_query` for every taxonomy. */
    rest_category_query: (query: TermQuery, request: Request) => TermQuery;
    /** Also as `rest_prepare_{taxonomy}` for every taxonomy. */
    rest_prepare_category: (response: RestResponse, term: Term, request: Request) => RestResponse;
    /** Also as `rest_pre_insert_{taxonomy}` for every taxonomy. */
    rest_pre_insert_category: (input: TermInput, request: Request) => TermInput;
  }
  interface ActionMap {
    /** Also as `rest_insert_{taxonomy}` and `rest_after_insert_{taxonomy}` for every taxonomy. */
    rest_insert_category: (term: Term, request: Request, creating: boolean) => void;
    /** Also as `rest_delete_{taxonomy}` for every taxonomy. */
    rest_delete_category: (term: Term, response: RestResponse, request: Request) => void;
  }
}

interface TermRoutes {
  readonly given: ContentRestDependencies;
  readonly taxonomy: Taxonomy;
  readonly schema: JsonSchema;
  readonly responses: TermResponses;
  /** @throws RestError 404 for a missing term or one of another taxonomy. */
  readonly find: (request: Pick<Request, 'params'>) => Promise<Term>;
}

/** `/wp/v2/{restBase}`: list, create, read, update and delete the terms of a taxonomy. */
export function addTermsRoutes(given: ContentRestDependencies, taxonomy: Taxonomy): Undo {
  const { rest, parts } = given;
  const schema = termSchema(taxonomy, given.parts);
  const routes: TermRoutes = {
    given,
    taxonomy,
    schema,
    responses: createTermResponses(given, taxonomy, schema),
    async find({ params }) {
      const term = await parts.terms.get(Number(params['id']));
      if (term === null || term.taxonomy !== taxonomy.name) throw contentErrors.rest_term_invalid();
      return term;
    },
  };
  const base = `/${taxonomy.restBase}`;
  return undoAll([
    rest.registerRoute('wp/v2', base, [listRoute(routes), createRoute(routes)]),
    rest.registerRoute('wp/v2', `${base}/(?P<id>[\\d]+)`, [
      readRoute(routes),
      updateRoute(routes),
      deleteRoute(routes),
    ]),
  ]);
}

interface TermResponses {
  one(term: Term, request: Request, context?: Context): Promise<RestResponse>;
  many(terms: readonly Term[], request: Request): Promise<unknown[]>;
}

function createTermResponses(given: ContentRestDependencies, taxonomy: Taxonomy, schema: JsonSchema): TermResponses {
  const { parts, hooks, rest } = given;
  const base = rest.url.bind(rest, `/wp/v2/${taxonomy.restBase}`);

  function links(term: Term, user: User, mayDelete: boolean): Links {
    const mayEdit = user.can(taxonomy.capabilities.edit_terms);
    const allow = ['GET', ...(mayEdit ? ['POST', 'PUT', 'PATCH'] : []), ...(mayDelete ? ['DELETE'] : [])];
    const types = taxonomy.types.flatMap((name) => parts.types.get(name) ?? []).filter(({ showInRest }) => showInRest);
    return {
      self: [{ href: `${base()}/${term.id}`, targetHints: { allow } }],
      collection: [{ href: base() }],
      about: [{ href: rest.url(`/wp/v2/taxonomies/${taxonomy.name}`) }],
      ...(term.parentId > 0 && { up: [{ embeddable: true, href: `${base()}/${term.parentId}` }] }),
      ...(types.length > 0 && {
        'https://api.w.org/post_type': types.map(({ restBase }) => ({
          href: `${rest.url(`/wp/v2/${restBase}`)}?${taxonomy.restBase}=${term.id}`,
        })),
      }),
    };
  }

  async function prepare(term: Term, request: Request, { link, context }: { link: string; context: Context }) {
    const body = inContext(
      {
        id: term.id,
        count: term.count,
        description: term.description,
        link,
        name: escapeName(term.name),
        slug: term.slug,
        taxonomy: term.taxonomy,
        ...(taxonomy.hierarchical && { parent: term.parentId }),
        meta: {},
      },
      schema,
      context,
    );
    const mayDelete = request.user.can(taxonomy.capabilities.delete_terms) && !(await parts.terms.isDefault(term));
    const response = new RestResponse({
      body: await withFields(parts.fields, { type: taxonomy.name, body, request, context }),
      ...(wantsLinks(request) && { links: links(term, request.user, mayDelete) }),
    });
    return hooks.applyFiltersAsync(`rest_prepare_${taxonomy.name}`, response, term, request) as Promise<RestResponse>;
  }

  const contextOf = ({ params }: Request): Context => (params['context'] ?? 'view') as Context;
  return {
    one: async (term, request, context = contextOf(request)) =>
      prepare(term, request, { link: await parts.terms.link(term), context }),
    async many(terms, request) {
      const addresses = await parts.terms.links(terms);
      const responses = await Promise.all(
        terms.map((term) =>
          prepare(term, request, { link: addresses.get(term.id) ?? '', context: contextOf(request) }),
        ),
      );
      return responses.map(({ body, links: own }) =>
        Object.keys(own).length === 0 ? body : { ...(body as Record<string, unknown>), _links: compactLinks(own) },
      );
    },
  };
}

/** Names are plain text; as in WordPress, quotes stay as they are. */
export function escapeName(name: string): string {
  return name.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

const orders: Readonly<Record<string, NonNullable<TermQuery['orderBy']>>> = {
  include: 'include',
  name: 'name',
  slug: 'slug',
  include_slugs: 'slug',
  description: 'description',
  count: 'count',
};

function listRoute({ given, taxonomy, schema, responses }: TermRoutes): RouteDefinition {
  const { parts, hooks, rest } = given;
  return {
    methods: ['GET'],
    allowBatch: true,
    args: termListArguments(taxonomy),
    schema,
    summary: `Lists ${taxonomy.label.toLowerCase()}.`,
    security: publicReadSecurity,
    permission: (request) =>
      request.params['context'] !== 'edit' ||
      request.user.can(taxonomy.capabilities.edit_terms) ||
      refused(request, 'rest_forbidden_context', 'Sorry, you are not allowed to edit terms in this taxonomy.'),
    async handler(request) {
      const { params } = request;
      const read = await readQuery(given, taxonomy, request);
      if (read === null) return new RestResponse({ body: [], headers: { 'X-WP-Total': '0', 'X-WP-TotalPages': '0' } });
      const query = (await hooks.applyFiltersAsync(`rest_${taxonomy.name}_query`, read, request)) as TermQuery;
      const perPage = Number(params['per_page']);
      const offset = typeof params['offset'] === 'number' ? params['offset'] : undefined;
      const total = await parts.terms.count(query);
      const terms = await parts.terms.find({
        ...query,
        limit: perPage,
        offset: offset ?? (Number(params['page']) - 1) * perPage,
      });
      return new RestResponse({
        body: await responses.many(terms, request),
        headers: pagingHeaders({
          total,
          page: offset === undefined ? Number(params['page']) : Math.ceil(offset / perPage) + 1,
          perPage,
          url: rest.url(`/wp/v2/${taxonomy.restBase}`),
          query: request.query,
        }),
      });
    },
  };
}

/** Null: nothing, because the user may not read the post whose terms are wanted. */
async function readQuery(
  { parts }: ContentRestDependencies,
  { name }: Taxonomy,
  { params, user }: Request,
): Promise<TermQuery | null> {
  const list = <Value>(member: string): readonly Value[] | undefined =>
    Array.isArray(params[member]) && params[member].length > 0 ? (params[member] as Value[]) : undefined;
  const postId = typeof params['post'] === 'number' && params['post'] > 0 ? params['post'] : undefined;
  if (postId !== undefined) {
    const post = await parts.store.get(postId);
    if (post === null || !user.can('read_post', post)) return null;
  }
  const [include, exclude, slugs] = [list<number>('include'), list<number>('exclude'), list<string>('slug')];
  return {
    taxonomy: name,
    orderBy: orders[String(params['orderby'])] ?? 'id',
    order: params['order'] === 'desc' ? 'desc' : 'asc',
    hideEmpty: params['hide_empty'] === true,
    ...(typeof params['search'] === 'string' && { search: params['search'] }),
    ...(include && { include }),
    ...(exclude && { exclude }),
    ...(slugs && { slugs }),
    ...(typeof params['parent'] === 'number' && { parentId: params['parent'] }),
    ...(postId !== undefined && { postId }),
  };
}

function createRoute({ given, taxonomy, schema, responses }: TermRoutes): RouteDefinition {
  const { edit_terms: edit, assign_terms: assign } = taxonomy.capabilities;
  const mayCreate = (request: Pick<Request, 'user'>): true | RestError =>
    request.user.can(taxonomy.hierarchical ? edit : assign) ||
    refused(request, 'rest_cannot_create', 'Sorry, you are not allowed to create terms in this taxonomy.');
  return {
    methods: ['POST'],
    allowBatch: true,
    args: termWriteArguments(given.parts, taxonomy, true),
    schema,
    summary: `Creates a ${taxonomy.singularLabel.toLowerCase()}.`,
    responses: createdResponse,
    permissionBeforeBody: mayCreate,
    permission: mayCreate,
    async handler(request) {
      const term = await write({ given, taxonomy, request, before: null });
      const address = given.rest.url(`/wp/v2/${taxonomy.restBase}/${term.id}`);
      return created(await responses.one(term, request, 'edit'), address);
    },
  };
}

interface Writing {
  readonly given: ContentRestDependencies;
  readonly taxonomy: Taxonomy;
  readonly request: Request;
  readonly before: Term | null;
}

async function write({ given, taxonomy, request, before }: Writing): Promise<Term> {
  const { parts, hooks } = given;
  const { name } = taxonomy;
  const { params } = request;
  const text = (member: 'name' | 'slug' | 'description'): TermInput =>
    typeof params[member] === 'string' ? { [member]: params[member] } : {};
  if (params['parent'] !== undefined && !taxonomy.hierarchical) throw contentErrors.rest_taxonomy_not_hierarchical();
  const read: TermInput = {
    ...text('name'),
    ...text('slug'),
    ...text('description'),
    ...(typeof params['parent'] === 'number' && { parentId: params['parent'] }),
  };
  const input = (await hooks.applyFiltersAsync(`rest_pre_insert_${name}`, read, request)) as TermInput;
  const save = async (): Promise<Term> => {
    const term =
      before === null
        ? await parts.terms.create(name, { ...input, name: input.name ?? '' })
        : await parts.terms.update(before.id, input);
    await hooks.doActionAsync(`rest_insert_${name}`, term, request, before === null);
    await updateFields(parts.fields, { type: name, item: term, request });
    return term;
  };
  const term = await (writesFields(parts.fields, name, request) ? given.transaction(save) : save());
  await hooks.doActionAsync(`rest_after_insert_${name}`, term, request, before === null);
  return term;
}

function readRoute({ taxonomy, schema, responses, find }: TermRoutes): RouteDefinition {
  return {
    methods: ['GET'],
    allowBatch: true,
    args: { id: termIdArgument, context: contextArgument },
    schema,
    summary: `Reads a ${taxonomy.singularLabel.toLowerCase()}.`,
    security: publicReadSecurity,
    permission: async (request) => {
      await find(request);
      return (
        request.params['context'] !== 'edit' ||
        request.user.can(taxonomy.capabilities.edit_terms) ||
        refused(request, 'rest_forbidden_context', 'Sorry, you are not allowed to edit this term.')
      );
    },
    handler: async (request) => responses.one(await find(request), request),
  };
}

function updateRoute({ given, taxonomy, responses, find }: TermRoutes): RouteDefinition {
  return {
    methods: ['POST', 'PUT', 'PATCH'],
    allowBatch: true,
    args: { id: termIdArgument, ...termWriteArguments(given.parts, taxonomy, false) },
    summary: `Updates a ${taxonomy.singularLabel.toLowerCase()}.`,
    permission: async (request) => {
      await find(request);
      return (
        request.user.can(taxonomy.capabilities.edit_terms) ||
        refused(request, 'rest_cannot_update', 'Sorry, you are not allowed to edit this term.')
      );
    },
    async handler(request) {
      const term = await write({ given, taxonomy, request, before: await find(request) });
      return responses.one(term, request, 'edit');
    },
  };
}

function deleteRoute({ given, taxonomy, schema, responses, find }: TermRoutes): RouteDefinition {
  const { parts, hooks } = given;
  return {
    methods: ['DELETE'],
    allowBatch: true,
    args: {
      id: termIdArgument,
      force: {
        type: 'boolean',
        default: false,
        description: 'Required to be true, as terms do not support trashing.',
      },
    },
    summary: `Deletes a ${taxonomy.singularLabel.toLowerCase()}.`,
    responses: { 200: { description: 'The deleted term.', schema: deletedSchema(schema) } },
    permission: async (request) => {
      const term = await find(request);
      return (
        (request.user.can(taxonomy.capabilities.delete_terms) && !(await parts.terms.isDefault(term))) ||
        refused(request, 'rest_cannot_delete', 'Sorry, you are not allowed to delete this term.')
      );
    },
    async handler(request) {
      const term = await find(request);
      if (request.params['force'] !== true)
        return restError(501, 'rest_trash_not_supported', "Terms do not support trashing. Set 'force=true' to delete.");
      const { body: previous } = await responses.one(term, request, 'edit');
      await parts.terms.delete(term.id);
      const response = new RestResponse({ body: { deleted: true, previous } });
      await hooks.doActionAsync(`rest_delete_${taxonomy.name}`, term, response, request);
      return response;
    },
  };
}
