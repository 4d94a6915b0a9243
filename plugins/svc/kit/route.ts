import {
  argumentBounds,
  typedRoute,
  type HostApi,
  type JsonSchema,
  type ParamsOf,
  type RestRequest,
  type RestResponse,
  type RouteResponse,
  type RouteArgument,
  type RouteArguments,
  type RouteDefinition,
  type RouteSecurity,
  isRecord,
} from '#plugin-api';
import type { Caller, KeyRoute } from './caller.ts';
import { asksForDryRun, requireDryRunUser, type Explanation } from './dry-run.ts';
import { errors } from './errors.ts';
import { apiKeyParameter, type KeyedRequest } from './require-api-key.ts';

/** The namespace of `{base_url}` (D1). */
export const serviceNamespace = 'svc/v1';

/** The ports that every route needs. */
export interface RouteContext {
  readonly host: Pick<HostApi, 'rest'>;
  /**
   * Checks the REST key or a named key and that it allows the route, then counts the call; before parameters are validated
   * (contract 5, D2, D31). Afterwards `callerOf(request)` returns the caller.
   *
   * @throws RestError 401, 403 `rest_svc_key_out_of_scope`, or 429
   */
  readonly authenticateCaller: (request: KeyedRequest, route: KeyRoute) => Promise<Caller>;
  /** Reports what a request with `?dry_run=1` would be allowed (D31). */
  readonly explainRequest: (request: RestRequest, route: KeyRoute) => Promise<Explanation>;
  /** Whether header or query hold the key, before the body is read. */
  readonly findKey: (request: RestRequest, route: KeyRoute) => unknown;
}

/** One file `<name>.route.ts`: path, schemas and handler. */
export interface ServiceRoute<Context> {
  /** Below the namespace, for example `/generate`. */
  readonly path: string;
  /** Default: that of `{base_url}`. */
  readonly namespace?: string;
  /** The key is checked first, and a named key must allow this route; `public`: the route checks access. */
  readonly access: KeyRoute | 'public';
  /** Whether all that the handler does before it calls a provider is reading. Without it `?dry_run=1` is refused. */
  readonly hasDryRun?: boolean;
  readonly define: (context: Context) => Omit<RouteDefinition, 'authenticate'>;
}

/** Returns the route unchanged; it only infers its types. */
export function defineRoute<Context>(route: ServiceRoute<Context>): ServiceRoute<Context> {
  return route;
}

interface PostRoute<Context, Arguments extends RouteArguments>
  extends
    Pick<ServiceRoute<Context>, 'path' | 'access' | 'hasDryRun'>,
    Pick<RouteDefinition, 'summary' | 'description' | 'schema' | 'responses' | 'bodyLimit'> {
  readonly args: (context: Context) => Arguments;
  readonly handler: (request: RestRequest<ParamsOf<Arguments>>, context: Context) => unknown;
}

/** A route of the method POST, whose handler gets the ports of its module. */
export function definePostRoute<Context, const Arguments extends RouteArguments>({
  path,
  access,
  hasDryRun = false,
  args,
  handler,
  ...definition
}: PostRoute<Context, Arguments>): ServiceRoute<Context> {
  return {
    ...{ path, access, hasDryRun },
    define: (context) =>
      typedRoute({
        ...definition,
        methods: ['POST'],
        args: args(context),
        handler: (request) => handler(request, context),
      }),
  };
}

/** Registers a route under `svc/v1`, behind a key unless it is public. */
export function registerRoute<Context extends RouteContext>(route: ServiceRoute<Context>, context: Context): void {
  const { access, hasDryRun = false } = route;
  const definition = { ...route.define(context) };
  const responses = { ...callResponses(definition), ...definition.responses };
  const isContract = (route.namespace ?? serviceNamespace) === serviceNamespace;
  const leaveOut = (request: RestRequest): void => {
    if (isContract) leaveOutEmpty(request, definition.args ?? {});
  };
  context.host.rest.registerRoute(
    route.namespace ?? serviceNamespace,
    route.path,
    access === 'public'
      ? { ...definition, authenticate: (request) => leaveOut(request) }
      : {
          ...definition,
          responses,
          permissionBeforeBody: (request) => context.findKey(request, access),
          anonymousBodyLimit: bodyKeyLimit,
          hasOwnKey: true,
          async authenticate(request) {
            if (!asksForDryRun(request)) await context.authenticateCaller(request, access);
            else requireDryRunUser(request);
            if (asksForDryRun(request) && !hasDryRun) throw errors.dry_run_not_offered();
            leaveOut(request);
          },
          handler: (request) =>
            asksForDryRun(request) ? context.explainRequest(request, access) : definition.handler(request),
          security: keySecurity,
        },
  );
}

/** Bytes of a body that may hold the key. Larger ones need it in the header or the query. */
const bodyKeyLimit = 1_048_576;

/** Responses of every route with a key (contract 7, D5), for OpenAPI. Those of the route take precedence. */
function callResponses({ methods = ['GET'] }: Pick<RouteDefinition, 'methods'>): Record<number, RouteResponse> {
  const wait = { 'Retry-After': 'Seconds to wait, if known.' };
  const common = {
    401: {
      description:
        'The key is missing or wrong, or no key is set (rest_svc_invalid_api_key), or a named key was revoked ' +
        '(rest_svc_key_revoked), has expired (rest_svc_key_expired) or got a new secret (rest_svc_key_replaced).',
    },
    403: { description: 'The scopes of the named key do not allow the call (rest_svc_key_out_of_scope).' },
    429: {
      description:
        'Too many calls in this minute (rest_svc_rate_limited), the budget is used up (rest_svc_budget_exhausted), ' +
        'or the provider limits requests (rest_svc_provider_rate_limited).',
      headers: wait,
    },
  };
  // Routes that only read call no provider.
  if (methods.every((method) => method === 'GET')) return common;
  return {
    ...common,
    200: {
      description: 'Done.',
      headers: {
        'X-SVC-Ignored-Params':
          'Names of parameters that the provider does not support and that were left out. Only if there are any.',
        'X-SVC-Usage-Estimated': 'true if the provider reported no usage and the service estimated it.',
      },
    },
    502: {
      description:
        'The provider refused the saved credentials (rest_svc_provider_auth_failed) ' +
        'or failed (rest_svc_provider_error, rest_svc_vector_store_error).',
    },
    504: { description: 'The provider did not respond in time (rest_svc_provider_timeout).', headers: wait },
  };
}

/** The authentication schemes for the key (contract 5.4), for OpenAPI. */
const keySecurity: readonly RouteSecurity[] = [
  'bearer',
  { name: apiKeyParameter, in: 'query', description: 'The key as a parameter of the query or of the body.' },
];

interface ProviderArgumentInit {
  /** The accepted ids, read at each request. */
  readonly ids: () => readonly string[];
  readonly description: string;
  readonly required?: boolean;
  /** Used if a request names none. */
  readonly default?: string;
}

type ProviderArgument<Init> = Omit<RouteArgument, 'type' | 'enum' | 'required' | 'default'> & {
  readonly type: 'string';
} & Pick<Init, keyof Init & ('required' | 'default')>;

/**
 * The argument `provider`: one of the ids at the time of the request, so that a provider that another plugin adds or removes
 * counts at once.
 *
 * The `sanitize` function keeps the host from compiling the schema, so that the list is read each time.
 */
export function providerArgument<const Init extends ProviderArgumentInit>({
  ids,
  description,
  required,
  default: chosen,
}: Init): ProviderArgument<Init> {
  return {
    type: 'string',
    description,
    ...(required !== undefined && { required }),
    ...(chosen !== undefined && { default: chosen }),
    get enum() {
      return ids();
    },
    sanitize: (value: unknown) => value,
  } as unknown as ProviderArgument<Init>;
}

/** The argument that names a model of the provider. */
export function modelArgument(description: string) {
  return { type: 'string', required: true, minLength: 1, ...argumentBounds.line, description } as const;
}

/** The member `usage` of a response. */
export const usageSchema = {
  type: 'object',
  properties: {
    input_tokens: { type: 'integer' },
    output_tokens: { type: 'integer' },
    total_tokens: { type: 'integer' },
  },
} as const satisfies JsonSchema;

/** The argument `input` of embeddings: one text or several (D11). */
export const embeddingInputArgument = {
  type: ['string', 'array'],
  required: true,
  description: 'Text to embed, or up to 2,048 texts.',
  ...argumentBounds.document,
  items: { type: 'string', ...argumentBounds.document },
  minItems: 1,
  maxItems: 2048,
  examples: [['First text.', 'Second text.']],
} as const satisfies RouteArgument;

/** Handlers of routes by name, loaded at the first call. */
export type RouteHandlers<Names extends string> = Readonly<
  Record<Names, (request: RestRequest) => Promise<RestResponse>>
>;

/**
 * Removes from a request what counts as left out (D49): members that are null where they are optional, at any depth that the
 * schemas describe, and query parameters that are empty.
 */
function leaveOutEmpty({ json, query }: Pick<RestRequest, 'json' | 'query'>, args: RouteArguments): void {
  for (const [name, { required }] of Object.entries(args))
    if (required !== true && query[name] === '') Reflect.deleteProperty(query, name);
  removeNulls(json, { type: 'object', properties: args });
}

function removeNulls(value: unknown, schema: JsonSchema | undefined): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) {
    if (schema.items !== undefined) for (const item of value) removeNulls(item, schema.items);
    return;
  }
  if (!isRecord(value)) return;
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    if (value[name] !== null) removeNulls(value[name], member);
    else if (member.required !== true && !takesNull(member)) Reflect.deleteProperty(value, name);
  }
}

function takesNull({ type }: JsonSchema): boolean {
  return type === 'null' || (Array.isArray(type) && type.includes('null'));
}
