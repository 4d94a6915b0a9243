import type { HttpMethod, Params, RouteDefinition, Undo } from '#plugin-api';
import { createEndpoint } from './endpoint.ts';
import type { Endpoint } from './endpoint.ts';
import { compileRoutePattern } from './route-pattern.ts';
import type { RoutePattern } from './route-pattern.ts';

/** All definitions of one path. */
export interface Route {
  readonly namespace: string;
  readonly pattern: RoutePattern;
  readonly endpoints: readonly Endpoint[];
  /** Whether a batch may call it: as in WordPress, one definition that allows it allows it for all. */
  readonly allowsBatch: boolean;
}

export interface Match {
  readonly route: Route;
  readonly endpoint: Endpoint;
  /** Path parameters as received, with percent-escapes. */
  readonly url: Params;
}

export interface RouteRegistry {
  register(namespace: string, route: string, added: AddedRoute): Undo;
  /** The first route that matches path and method, in order of registration. HEAD uses GET. */
  match(method: string, path: string): Match | null;
  /** The first route that matches the path, for any method. */
  matchPath(path: string): { readonly route: Route; readonly url: Params } | null;
  /** In order of registration. */
  routes(): readonly Route[];
  namespaces(): readonly string[];
  /** Runs the work, which may register routes, once, before the routes are next read. */
  beforeRead(work: () => void): void;
}

export interface AddedRoute {
  readonly definitions: readonly RouteDefinition[];
  /** Slug of the plugin. Default: `host`. */
  readonly owner?: string;
}

/** A route that was registered twice for the same methods, by two owners or one. */
export interface RouteConflict {
  readonly path: string;
  readonly methods: readonly HttpMethod[];
  /** Who registered it later. */
  readonly owner: string;
  /** Who registered it before. */
  readonly earlier: string;
  /** Whether the later one replaces the earlier one. Otherwise it is never reached. */
  readonly replaces: boolean;
}

interface Registration {
  readonly endpoints: readonly Endpoint[];
  readonly override: boolean;
}

interface Entry extends Route {
  endpoints: readonly Endpoint[];
  allowsBatch: boolean;
  readonly registrations: Registration[];
}

type Candidate = { readonly route: Route; readonly url: Params };

/**
 * The route table of a process. All nodes of a site register the same routes.
 *
 * @param onConflict called when a route is registered that has the same method already.
 */
export function createRouteRegistry(onConflict: (conflict: RouteConflict) => void = () => undefined): RouteRegistry {
  const entries = new Map<string, Entry>();
  /** Routes by static path; cleared when a route is added or removed. */
  const staticCandidates = new Map<string, readonly Candidate[]>();
  let namespaces: readonly string[] | null = null;
  const works = new Set<() => void>();

  const settle = (): void => {
    for (const work of works) {
      works.delete(work);
      work();
    }
  };
  const changed = (): void => {
    staticCandidates.clear();
    namespaces = null;
  };
  const listNamespaces = (): readonly string[] =>
    (namespaces ??= [...new Set([...entries.values()].map(({ namespace }) => namespace))].filter(
      (namespace) => namespace !== '',
    ));

  const candidates = (path: string): readonly Candidate[] => {
    settle();
    const known = staticCandidates.get(path);
    if (known !== undefined) return known;
    const found = search(path);
    if (entries.get(path)?.pattern.isStatic === true) staticCandidates.set(path, found);
    return found;
  };
  const search = (path: string): Candidate[] => {
    const inside = listNamespaces().filter((namespace) => `${path}/`.startsWith(`/${namespace}/`));
    const found: Candidate[] = [];
    for (const route of entries.values()) {
      if (inside.length > 0 && !inside.includes(route.namespace)) continue;
      const url = route.pattern.match(path);
      if (url !== null) found.push({ route, url });
    }
    return found;
  };

  return {
    register(namespace, route, { definitions, owner = 'host' }) {
      const pattern = compileRoutePattern(namespace, route);
      const entry = entries.get(pattern.path) ?? {
        namespace,
        pattern,
        endpoints: [],
        allowsBatch: false,
        registrations: [],
      };
      const registration = {
        endpoints: definitions.map((definition) => createEndpoint(definition, owner)),
        override: definitions.some(({ override }) => override === true),
      };
      for (const conflict of findConflicts(entry.endpoints, registration.endpoints))
        onConflict({ ...conflict, path: pattern.path, owner, replaces: registration.override });
      entry.registrations.push(registration);
      refresh(entry);
      entries.set(pattern.path, entry);
      changed();
      return () => {
        const index = entry.registrations.indexOf(registration);
        if (index < 0) return;
        entry.registrations.splice(index, 1);
        refresh(entry);
        if (entry.registrations.length === 0) entries.delete(pattern.path);
        changed();
      };
    },
    match(method, path) {
      const wanted = method === 'HEAD' ? 'GET' : method;
      for (const { route, url } of candidates(path)) {
        for (const endpoint of route.endpoints) {
          if (endpoint.methods.includes(wanted as HttpMethod)) return { route, endpoint, url };
        }
      }
      return null;
    },
    matchPath: (path) => candidates(path)[0] ?? null,
    routes() {
      settle();
      return [...entries.values()];
    },
    namespaces() {
      settle();
      return listNamespaces();
    },
    beforeRead: (work) => void works.add(work),
  };
}

/** Methods by the owner who has them already. */
function findConflicts(
  known: readonly Endpoint[],
  added: readonly Endpoint[],
): Pick<RouteConflict, 'earlier' | 'methods'>[] {
  const methods = added.flatMap((endpoint) => endpoint.methods);
  return known
    .map((endpoint) => ({
      earlier: endpoint.owner,
      methods: endpoint.methods.filter((method) => methods.includes(method)),
    }))
    .filter((conflict) => conflict.methods.length > 0);
}

/** The last registration with `override` and all later ones apply. */
function refresh(entry: Entry): void {
  const from = entry.registrations.findLastIndex(({ override }) => override);
  entry.endpoints = entry.registrations.slice(Math.max(from, 0)).flatMap(({ endpoints }) => endpoints);
  entry.allowsBatch = entry.endpoints.some(({ definition }) => definition.allowBatch === true);
}
