import type { HostApi, RouteDefinition, RouteSecurity } from '#plugin-api';
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
  const definition = route.define(context);
  context.host.rest.registerRoute(
    serviceNamespace,
    route.path,
    route.access === 'public' ? definition : { ...definition, authenticate: context.authenticate, security: keySecurity },
  );
}

/** The ways to send the key (contract 5.4), as OpenAPI shows them. */
const keySecurity: readonly RouteSecurity[] = ['bearer', { name: apiKeyParameter, in: 'query', description: 'The key as a parameter of the query, or of the body.' }];
