import type { HostApi, RouteResponse, RouteDefinition, RouteSecurity, RouteArgument } from '#plugin-api';
import { apiKeyParameter } from './require-api-key.ts';

/** The namespace of `{base_url}` (D1). */
export const serviceNamespace = 'svc/v1';

/** What the kit needs of the context that routes are built from. */
export interface RouteContext {
  readonly host: Pick<HostApi, 'rest'>;
  /** The check every route makes before anything else, unless its access is `public` (contract 5, D2). */
  readonly authenticate: NonNullable<RouteDefinition['authenticate']>;
}

/** One file `<name>.route.ts`: path, schemas and handler. */
export interface ServiceRoute<Context> {
  /** Below the namespace, for example `/generate`. */
  readonly path: string;
  /** `key` (default): the REST API key is asked for first. `public`: the route decides itself. */
  readonly access?: 'key' | 'public';
  readonly define: (context: Context) => Omit<RouteDefinition, 'authenticate'>;
}

/** Gives a route its types; answers it unchanged. */
export function defineRoute<Context>(route: ServiceRoute<Context>): ServiceRoute<Context> {
  return route;
}

/** Registers a route under `svc/v1`, behind the REST API key unless it is public. */
export function registerRoute<Context extends RouteContext>(route: ServiceRoute<Context>, context: Context): void {
  const definition = { ...route.define(context) };
  const responses = { ...callResponses(definition), ...definition.responses };
  context.host.rest.registerRoute(
    serviceNamespace,
    route.path,
    route.access === 'public'
      ? definition
      : { ...definition, responses, authenticate: context.authenticate, security: keySecurity },
  );
}

/** The answers that any route behind the key may give (contract 7, D5), for OpenAPI; a route's own win. */
function callResponses({ methods = ['GET'] }: Pick<RouteDefinition, 'methods'>): Record<number, RouteResponse> {
  const wait = { 'Retry-After': 'Seconds to wait, where they are known.' };
  const common = {
    401: { description: 'The key is missing, wrong, or none is set (rest_svc_invalid_api_key).' },
    429: {
      description:
        'Too many calls in this minute (rest_svc_rate_limited), the budget is used up (rest_svc_budget_exhausted), or the provider limits them (rest_svc_provider_rate_limited).',
      headers: wait,
    },
  };
  // What only reads asks no provider.
  if (methods.every((method) => method === 'GET')) return common;
  return {
    ...common,
    200: {
      description: 'Done.',
      headers: {
        'X-SVC-Ignored-Params':
          'Names of parameters that were left out because the provider does not take them; only where there are any.',
        'X-SVC-Usage-Estimated': 'true where the provider told no usage and it was counted here.',
      },
    },
    502: {
      description:
        'The provider refused the saved credentials (rest_svc_provider_auth_failed) or failed (rest_svc_provider_error, rest_svc_vector_store_error).',
    },
    504: { description: 'The provider did not answer in time (rest_svc_provider_timeout).', headers: wait },
  };
}

/** The ways to send the key (contract 5.4), as OpenAPI shows them. */
const keySecurity: readonly RouteSecurity[] = [
  'bearer',
  { name: apiKeyParameter, in: 'query', description: 'The key as a parameter of the query, or of the body.' },
];

interface ProviderArgumentInit {
  /** Ids that may be chosen, asked anew at each request. */
  readonly ids: () => readonly string[];
  readonly description: string;
  readonly required?: boolean;
  /** Taken where a caller names none. */
  readonly default?: string;
}

/**
 * The argument `provider`: one of the ids there are at the moment of the request, so that a provider added or taken away
 * by another plugin counts at once.
 *
 * The list is read anew each time; a `sanitize` of its own keeps the host from compiling the schema once and for all.
 */
export function providerArgument({ ids, description, required, default: chosen }: ProviderArgumentInit): RouteArgument {
  return {
    type: 'string',
    description,
    ...(required !== undefined && { required }),
    ...(chosen !== undefined && { default: chosen }),
    get enum() {
      return ids();
    },
    sanitize: (value) => value,
  };
}
