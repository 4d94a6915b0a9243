import { trimTrailingSlashes } from '#plugin-api';
import { randomUUID } from 'node:crypto';
import type { Clock, HooksApi, JsonType, Logger, RestApi, RouteArgument, RouteDefinition, Undo } from '#plugin-api';
import { createBatchRoute } from './batch.ts';
import { createDispatcher, type Step } from './dispatcher.ts';
import { createEmbedder } from './embed.ts';
import { createErrorReader } from './error-response.ts';
import { createFinish } from './finish.ts';
import { createNamespaceIndex, createRootIndex } from './index-routes.ts';
import type { RestSite } from './index-routes.ts';
import { createLinks } from './links.ts';
import { createOpenApi, createOpenApiRoute } from './index-routes.ts';
import { parseQuery } from './php-query.ts';
import { createRouteRegistry } from './registry.ts';
import type { Route, RouteConflict } from './registry.ts';
import { describeArgument } from './route-description.ts';
import { compileRoutePattern } from './route-pattern.ts';
import { HostRequest } from './host-request.ts';
import { createResponseHeaders } from './response-headers.ts';
import type { HandlerFailure, Rest, RouteSummary } from './rest-contract.ts';
import { createRestFilters } from './rest-filters.ts';
import { createRestServer, visitor } from './rest-server.ts';
import { authSchemesOf } from './auth-schemes.ts';

export type { HandlerFailure, RawRestRequest, RawRestResponse, Rest, RouteSummary } from './rest-contract.ts';
export type { RestSite } from './index-routes.ts';

export interface RestDependencies {
  readonly hooks: Pick<HooksApi, 'hasFilter' | 'applyFilters' | 'applyFiltersAsync' | 'doAction'>;
  readonly log: Logger;
  readonly clock: Pick<Clock, 'now'>;
  /** Without a trailing slash; a function if it is known only once the server listens. */
  readonly siteUrl: string | (() => string);
  /** First part of REST paths, without slashes: `wp-json`. */
  readonly prefix: string;
  readonly site: RestSite;
  /** Origins whose scripts may read responses. Default: only the site's own (D16). */
  readonly isAllowedOrigin?: (origin: string) => boolean;
  /** Name of the session's cookie, for OpenAPI. Default `svc_session`. */
  readonly sessionCookie?: string;
  /** Runs a handler under the name of its route. Default: runs it. */
  readonly track?: (name: string, work: () => unknown) => unknown;
  /** See DispatcherDependencies. Default: it only runs the work. */
  readonly step?: Step;
}

/**
 * The REST interface of a site, without HTTP: routes, dispatch, indexes, batch. Its only state is the route table,
 * so all nodes respond alike.
 */
export function createRest({
  hooks,
  log,
  clock,
  siteUrl,
  prefix,
  site,
  isAllowedOrigin = () => false,
  sessionCookie = 'svc_session',
  track = (_name, work) => work(),
  step = (_name, work) => work(),
}: RestDependencies): Rest {
  const filters = createRestFilters(hooks);
  const registry = createRouteRegistry((conflict) => warnOfConflict(hooks, conflict));
  const listeners = new Set<(failure: HandlerFailure) => void>();
  const home = typeof siteUrl === 'string' ? () => siteUrl : siteUrl;
  const root = (): string => `${home()}/${prefix}/`;
  const url = (route = '/'): string => root() + route.replace(/^\/+/, '');
  const self = (): Rest => rest;
  const onFailure = (failure: HandlerFailure): void => {
    for (const listener of listeners) listener(failure);
  };
  const errors = createErrorReader({ log, onFailure });
  const dispatcher = createDispatcher({ registry, filters, rest: self, errors, url, track, step });
  const links = createLinks({ registry, filters, root });
  const finish = createFinish({ filters, registry, rest: self });
  const embedder = createEmbedder({ dispatcher, links, finish });
  const headers = createResponseHeaders({ filters, root, isAllowedOrigin });
  const indexes = { registry, filters, site, siteUrl: home, url, now: () => clock.now() };
  const openapi = createOpenApi({ registry, filters, site, url, sessionCookie });
  const registerFor = createRegister({
    registry,
    log,
    addOwn: (namespace) => [
      registry.register(namespace, '', { definitions: [createNamespaceIndex(namespace, indexes)] }),
      registry.register(namespace, '/openapi.json', { definitions: [createOpenApiRoute(namespace, openapi)] }),
    ],
  });

  const serving = { dispatcher, embedder, filters, errors, headers };

  const dispatchAs =
    (plugin: string | undefined): RestApi['dispatch'] =>
    (route, init = {}) => {
      const [path = '', query = ''] = route.split(/\?(.*)/s);
      const parsed = parseQuery(query);
      return dispatcher.dispatch(
        new HostRequest({
          method: init.method ?? 'GET',
          route: path === '/' ? path : trimTrailingSlashes(path),
          query: { ...parsed, params: { ...parsed.params, ...init.query } },
          headers: init.headers ?? {},
          json: structuredClone(init.json),
          user: init.user ?? visitor,
          id: randomUUID(),
          ip: '',
          log,
          plugin,
          ...(init.signal && { signal: init.signal }),
        }),
      );
    };

  const rest: Rest = {
    registerRoute: registerFor('host'),
    forOwner: (owner) => ({ registerRoute: registerFor(owner), dispatch: dispatchAs(owner), url }),
    url,
    handle: createRestServer({ ...serving, finish, registry, rest: self, log, step }),
    dispatch: dispatchAs(undefined),
    beforeRead: registry.beforeRead,
    describe: () => registry.routes().map(summarize),
    openapi,
    onHandlerError(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const batch = createBatchRoute({ registry, dispatcher, embedder, filters, finish, errors });
  registry.register('', '/', { definitions: [createRootIndex(indexes)] });
  registry.register('', '/openapi.json', { definitions: [createOpenApiRoute('', openapi)] });
  registry.register('', '/batch/v1', { definitions: [batch] });
  return rest;
}

interface RegisterDependencies {
  readonly registry: ReturnType<typeof createRouteRegistry>;
  readonly log: Logger;
  /** Registers the host's routes of each namespace: its index and its OpenAPI document. */
  readonly addOwn: (namespace: string) => readonly Undo[];
}

/** Checks for common mistakes and registers. The first route of a namespace adds the namespace's index and document. */
function createRegister({ registry, log, addOwn }: RegisterDependencies): (owner: string) => RestApi['registerRoute'] {
  const own = new Map<string, { routes: number; undos: readonly Undo[] }>();
  return (owner) => (namespace: string, route: string, definition: unknown) => {
    const definitions = (Array.isArray(definition) ? definition : [definition]) as readonly RouteDefinition[];
    checkRegistration(namespace, route, definitions);
    for (const name of unchecked(definitions))
      log.warn('REST argument without a type is not checked by its schema', {
        event: 'rest_argument_unchecked',
        route: `/${namespace}${route}`,
        argument: name,
        ...(owner !== 'host' && { plugin: owner }),
      });
    const entry = own.get(namespace) ?? { routes: 0, undos: addOwn(namespace) };
    const undo = registry.register(namespace, route, { definitions, owner });
    entry.routes += 1;
    own.set(namespace, entry);
    let isUndone = false;
    return () => {
      if (isUndone) return;
      isUndone = true;
      undo();
      entry.routes -= 1;
      if (entry.routes > 0) return;
      for (const undoOwn of entry.undos) undoOwn();
      own.delete(namespace);
    };
  };
}

/** Both owners are named to the later one, whose route has no effect or takes another's place. */
function warnOfConflict(
  hooks: Pick<HooksApi, 'doAction'>,
  { path, methods, owner, earlier, replaces }: RouteConflict,
): void {
  const by = earlier === owner ? 'the plugin itself' : earlier === 'host' ? 'the host' : `the plugin '${earlier}'`;
  hooks.doAction(
    'plugin_warning',
    owner,
    replaces
      ? `It replaces the route ${methods.join(', ')} ${path} of ${by}.`
      : `Its route ${methods.join(', ')} ${path} is never reached: ${by} registered it before. Choose another path, or set 'override'.`,
  );
}

function checkRegistration(namespace: string, route: string, definitions: readonly RouteDefinition[]): void {
  if (!/^[\w.~-]+(\/[\w.~-]+)*$/.test(namespace)) {
    throw new Error(
      `The namespace '${namespace}' of the route '${route}' is not valid. ` +
        'Use vendor and version without leading or trailing slashes: hello/v1.',
    );
  }
  compileRoutePattern(namespace, route);
  if (definitions.length === 0)
    throw new Error(`The route '/${namespace}${route}' has no definition. Give it a handler.`);
  for (const { permission } of definitions as readonly { readonly permission?: unknown }[])
    if (permission !== undefined && typeof permission !== 'function')
      throw new TypeError(
        `The permission of the route '/${namespace}${route}' is no function. For a public route, use permission: () => true.`,
      );
}

/** Names of arguments that look checked but are not. */
function unchecked(definitions: readonly RouteDefinition[]): string[] {
  const isUnchecked = (argument: RouteArgument): boolean =>
    argument.type === undefined &&
    argument.validate === undefined &&
    argument.sanitize === undefined &&
    [
      argument.anyOf,
      argument.oneOf,
      argument.enum,
      argument.const,
      argument.properties,
      argument.items,
      argument.pattern,
    ].some((keyword) => keyword !== undefined);
  return definitions.flatMap(({ args = {} }) =>
    Object.entries(args)
      .filter(([, argument]) => isUnchecked(argument))
      .map(([name]) => name),
  );
}

function summarize({ namespace, pattern, endpoints, allowsBatch }: Route): RouteSummary {
  return {
    namespace,
    route: pattern.path,
    methods: [...new Set(endpoints.flatMap(({ methods }) => methods))],
    endpoints: endpoints.map(({ methods, definition }) => ({
      methods,
      summary: definition.summary ?? null,
      args: Object.entries(definition.args ?? {}).map(([name, argument]) => ({
        name,
        type: typeName(argument.type),
        required: argument.required === true,
        description: argument.description ?? '',
        schema: describeArgument(argument),
      })),
      security: authSchemesOf(definition),
      hasPermission: definition.permission !== undefined,
      hasAuthentication: definition.authenticate !== undefined,
    })),
    showInIndex: endpoints.some(({ definition }) => definition.showInIndex !== false),
    allowsBatch,
  };
}

function typeName(type: RouteArgument['type']): string {
  return type === undefined ? 'any' : ([type].flat() as JsonType[]).join(' or ');
}
