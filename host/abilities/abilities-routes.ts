import {
  argumentBounds,
  contextArgument,
  isRecord,
  pagingArguments,
  pagingHeaders,
  readOnlyIn,
  restError,
  RestResponse,
  wantsLinks,
  type Ability,
  type AbilityCategory,
  type HooksApi,
  type JsonSchema,
  type RestApi,
  type RestRequest,
  type RouteArgument,
  type RouteDefinition,
  type RouteSecurity,
} from '#plugin-api';
import type { Abilities, RegisteredAbility } from './abilities.ts';
import { createFindCaller, runAllowed, type FindCaller } from './caller.ts';
import { abilityNotFound, type PreparedRun } from './run-ability.ts';

const namespace = 'wp-abilities/v1';
const namePattern = '[a-zA-Z0-9\\-\\/]+';
/** Clients such as wpapi read the routes of the root document and know no groups within a group. */
const slugPattern = '[a-z0-9-]+';

const nameArgument: RouteArgument = {
  description: 'Unique identifier for the ability.',
  type: 'string',
  ...argumentBounds.key,
  pattern: `^${namePattern}$`,
};
const pageArguments: Readonly<Record<string, RouteArgument>> = {
  context: contextArgument,
  ...pagingArguments,
  per_page: { ...pagingArguments.per_page, default: 50 },
};
const annotationText = {
  readonly: 'Whether the ability does not modify its environment.',
  destructive: 'Whether the ability may perform destructive updates to its environment.',
  idempotent: 'Whether repeated calls with the same arguments have no additional effect.',
} as const;
const listArguments: Readonly<Record<string, RouteArgument>> = {
  ...pageArguments,
  category: {
    description: 'Limit results to abilities in specific ability category.',
    type: 'string',
    ...argumentBounds.key,
  },
  namespace: {
    description: 'Limit results to abilities in a specific namespace.',
    type: 'string',
    ...argumentBounds.key,
  },
  meta: {
    description: 'Limit results to abilities matching all of the given meta fields.',
    type: 'object',
    properties: {
      annotations: {
        description: 'Limit results to abilities matching the given behavioral annotations.',
        type: 'object',
        properties: Object.fromEntries(
          Object.entries(annotationText).map(([name, description]) => [
            name,
            { description, type: ['boolean', 'null'] },
          ]),
        ),
        additionalProperties: true,
      },
    },
    additionalProperties: true,
  },
};

const abilitySchema: JsonSchema = {
  title: 'ability',
  type: 'object',
  properties: {
    ...readOnlyIn('everywhere', {
      name: { description: 'Unique identifier for the ability.', type: 'string' },
      label: { description: 'Display label for the ability.', type: 'string' },
      category: { description: 'Ability category this ability belongs to.', type: 'string' },
    }),
    ...readOnlyIn('shown', {
      description: { description: 'Description of the ability.', type: 'string' },
      input_schema: { description: 'JSON Schema for the ability input.', type: 'object' },
      output_schema: { description: 'JSON Schema for the ability output.', type: 'object' },
      meta: { description: 'Meta information about the ability.', type: 'object' },
    }),
  },
};
const categorySchema: JsonSchema = {
  title: 'ability-category',
  type: 'object',
  properties: {
    ...readOnlyIn('everywhere', {
      slug: { description: 'Unique identifier for the category.', type: 'string' },
      label: { description: 'Display label for the category.', type: 'string' },
    }),
    ...readOnlyIn('shown', {
      description: { description: 'Description of the category.', type: 'string' },
      meta: { description: 'Meta information about the category.', type: 'object' },
    }),
  },
};

/** `wp-abilities/v1`: abilities, their categories, and `run`, in the shapes of WordPress (D34). */
export function addAbilitiesRoutes(
  rest: RestApi,
  { abilities, hooks }: { readonly abilities: Abilities; readonly hooks: Pick<HooksApi, 'applyFiltersAsync'> },
): void {
  const findCaller = createFindCaller(hooks, 'abilities');
  const permission = async (request: RestRequest): Promise<boolean> => (await findCaller(request)).user.can('read');
  const given = { rest, abilities, permission };
  rest.registerRoute(namespace, '/categories', listCategories(given));
  rest.registerRoute(namespace, `/categories/(?P<slug>${slugPattern})`, readCategory(given));
  rest.registerRoute(namespace, `/abilities/(?P<name>${namePattern}?)/run`, runRoute(abilities, findCaller));
  rest.registerRoute(namespace, '/abilities', listAbilities(given));
  rest.registerRoute(namespace, `/abilities/(?P<name>${namePattern})`, readAbility(given));
}

const security: readonly RouteSecurity[] = ['session', 'application_password', 'bearer'];

interface RoutesInit {
  readonly rest: RestApi;
  readonly abilities: Abilities;
  readonly permission: (request: RestRequest) => Promise<boolean>;
}

function listAbilities({ rest, abilities, permission }: RoutesInit): RouteDefinition {
  return {
    args: listArguments,
    schema: abilitySchema,
    summary: 'Lists abilities.',
    security,
    permission,
    async handler(request) {
      const { category, namespace: wanted, meta } = request.params;
      const key = String(category ?? '').toLowerCase();
      const found = (await abilities.listPublic()).filter(
        (ability) =>
          (category === undefined || ability.category === key) &&
          (wanted === undefined || ability.name.startsWith(`${String(wanted).replace(/\/$/, '')}/`)) &&
          // Every listed one is shown in REST.
          (!isRecord(meta) || matches(ability.meta, { ...meta, show_in_rest: true })),
      );
      return pageOf(found, {
        request,
        url: rest.url(`/${namespace}/abilities`),
        toItem: (ability) => toItem(request, abilityBody(ability, request), abilityLinks(rest, ability)),
      });
    },
  };
}

/** Whether the value has all wanted members. */
function matches(value: unknown, wanted: unknown): boolean {
  if (!isRecord(wanted)) return value === wanted;
  return isRecord(value) && Object.entries(wanted).every(([name, member]) => matches(value[name], member));
}

function readAbility({ rest, abilities, permission }: RoutesInit): RouteDefinition {
  return {
    args: { name: nameArgument },
    schema: abilitySchema,
    summary: 'Reads an ability.',
    security,
    permission,
    async handler(request) {
      const ability = await findPublic(abilities, request.params['name']);
      const body = abilityBody(ability, request);
      return new RestResponse(wantsLinks(request) ? { body, links: abilityLinks(rest, ability) } : { body });
    },
  };
}

function listCategories({ rest, abilities, permission }: RoutesInit): RouteDefinition {
  return {
    args: pageArguments,
    schema: categorySchema,
    summary: 'Lists categories of abilities.',
    security,
    permission,
    handler: async (request) =>
      pageOf(await abilities.categories(), {
        request,
        url: rest.url(`/${namespace}/categories`),
        toItem: (category) => toItem(request, categoryBody(category, request), categoryLinks(rest, category)),
      }),
  };
}

function readCategory({ rest, abilities, permission }: RoutesInit): RouteDefinition {
  const slug: RouteArgument = {
    description: 'Unique identifier for the ability category.',
    type: 'string',
    ...argumentBounds.key,
    pattern: `^${slugPattern}$`,
  };
  return {
    args: { slug },
    schema: categorySchema,
    summary: 'Reads a category of abilities.',
    security,
    permission,
    async handler(request) {
      const category = (await abilities.categories()).find((each) => each.slug === request.params['slug']);
      if (category === undefined)
        throw restError(404, 'rest_ability_category_not_found', 'Ability category not found.');
      const body = categoryBody(category, request);
      return new RestResponse(wantsLinks(request) ? { body, links: categoryLinks(rest, category) } : { body });
    },
  };
}

/** As in WordPress, method, input and permission are checked in this order, all before the handler. */
function runRoute(abilities: Abilities, findCaller: FindCaller): RouteDefinition {
  const prepared = new WeakMap<RestRequest, PreparedRun['execute']>();
  return {
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    args: {
      name: nameArgument,
      input: {
        description: 'Input parameters for the ability execution.',
        type: ['integer', 'number', 'boolean', 'string', 'array', 'object', 'null'],
        ...argumentBounds.document,
        ...argumentBounds.anyInteger,
        maxItems: 10_000,
        default: null,
        // The schema of the ability coerces it.
        sanitize: (value) => value,
      },
    },
    summary: 'Runs an ability.',
    description:
      'GET for read-only abilities, DELETE for destructive and idempotent ones, with `input` in the query; POST for all others, ' +
      'with `input` in the JSON body.',
    security: ['none', ...security],
    async permission(request) {
      const ability = await findPublic(abilities, request.params['name']);
      checkMethod(ability, request.method);
      const caller = await findCaller(request);
      const { signal } = request;
      await runAllowed(ability, caller, async (user) => {
        const { execute } = await abilities.prepare(ability, readInput(request), { user, signal, request });
        prepared.set(request, () => runAllowed(ability, caller, execute));
      });
      return true;
    },
    handler: (request) => prepared.get(request)?.(),
  };
}

function readInput({ method, query, json }: RestRequest): unknown {
  if (method === 'GET' || method === 'DELETE') return query['input'];
  return isRecord(json) ? json['input'] : undefined;
}

/** @throws RestError 405 */
function checkMethod({ meta: { annotations } }: RegisteredAbility, method: string): void {
  const isDeletion = annotations.destructive === true && annotations.idempotent === true;
  const [wanted, message] =
    annotations.readonly === true
      ? ['GET', 'Read-only abilities require GET method.']
      : isDeletion
        ? ['DELETE', 'Abilities that perform destructive actions require DELETE method.']
        : ['POST', 'Abilities that perform updates require POST method.'];
  if (method !== wanted) throw restError(405, 'rest_ability_invalid_method', message);
}

/** @throws RestError 404 */
async function findPublic(abilities: Abilities, name: unknown): Promise<RegisteredAbility> {
  const ability = await abilities.find(String(name));
  if (ability?.meta.show_in_rest !== true) throw abilityNotFound();
  return ability;
}

type Links = Readonly<Record<string, readonly { readonly href: string }[]>>;

function toItem(request: RestRequest, body: Record<string, unknown>, links: Links): Record<string, unknown> {
  if (!wantsLinks(request)) return body;
  const self = links['self']?.map((link) => ({ ...link, targetHints: { allow: ['GET'] } }));
  return { ...body, _links: { ...links, self } };
}

interface PageInit<Item> {
  readonly request: RestRequest;
  readonly url: string;
  readonly toItem: (item: Item) => unknown;
}

/** As in WordPress, a page past the last one is empty, with the page before it as its predecessor. */
function pageOf<Item>(items: readonly Item[], { request, url, toItem: convert }: PageInit<Item>): RestResponse {
  const [page, perPage] = [Number(request.params['page']), Number(request.params['per_page'])];
  const total = items.length;
  const start = (page - 1) * perPage;
  const headers = pagingHeaders({ total: Math.max(total, start), page, perPage, url, query: request.query });
  return new RestResponse({
    body: items.slice(start, start + perPage).map(convert),
    headers: { ...headers, 'X-WP-Total': String(total), 'X-WP-TotalPages': String(Math.ceil(total / perPage)) },
  });
}

function abilityBody(ability: Ability, { params }: RestRequest): Record<string, unknown> {
  const { name, label, description, category, inputSchema, outputSchema, meta } = ability;
  if (params['context'] === 'embed') return { name, label, category };
  return {
    name,
    label,
    description,
    category,
    input_schema: withoutHints(inputSchema ?? {}),
    output_schema: withoutHints(outputSchema ?? {}),
    meta,
  };
}

/** The schema without what is for forms alone. */
function withoutHints(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutHints);
  if (!isRecord(schema)) return schema;
  const isHint = (name: string, value: unknown): boolean => (name === 'ui' && isRecord(value)) || name === 'rule';
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([name, value]) => !isHint(name, value))
      .map(([name, value]) => [name, withoutHints(value)]),
  );
}

function abilityLinks(rest: RestApi, { name }: Ability): Links {
  const collection = rest.url(`/${namespace}/abilities`);
  const self = `${collection}/${name}`;
  return { self: [{ href: self }], collection: [{ href: collection }], 'wp:action-run': [{ href: `${self}/run` }] };
}

function categoryBody({ slug, label, description, meta }: AbilityCategory, { params }: RestRequest) {
  return params['context'] === 'embed' ? { slug, label } : { slug, label, description, meta };
}

function categoryLinks(rest: RestApi, { slug }: AbilityCategory): Links {
  const collection = rest.url(`/${namespace}/categories`);
  return {
    self: [{ href: `${collection}/${slug}` }],
    collection: [{ href: collection }],
    abilities: [{ href: rest.url(`/${namespace}/abilities?category=${slug}`) }],
  };
}
