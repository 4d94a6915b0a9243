import { isRecord, type RestResponse, type HttpMethod, type Params } from '#plugin-api';
import { isErrorResponse, type ErrorBody } from './error-response.ts';
import type { Match, RouteRegistry, Route } from './registry.ts';
import type { HostRequest } from './host-request.ts';
import type { Rest } from './rest-contract.ts';
import type { RestFilters } from './rest-filters.ts';
import { parseList } from './schema/values.ts';
import type { Endpoint } from './endpoint.ts';

/**
 * Methods this caller may use on a route, for the header `Allow`: those without a permission check, and those whose check
 * returns true for this request. Null when there are none, or when authentication failed.
 */
export async function allowedMethods(request: HostRequest, route: Route): Promise<string | null> {
  if (request.isUnauthenticated) return null;
  const [only] = route.endpoints;
  if (route.endpoints.length === 1 && only?.definition.permission === undefined)
    return joinMethods(only?.methods ?? []);
  const allowed = new Map<HttpMethod, boolean>();
  for (const endpoint of route.endpoints) {
    const isAllowed = await permits(request, endpoint);
    for (const method of endpoint.methods) allowed.set(method, isAllowed);
  }
  return joinMethods([...allowed].filter(([, isAllowed]) => isAllowed).map(([method]) => method));
}

const joinedMethods = new WeakMap<readonly HttpMethod[], string>();

function joinMethods(methods: readonly HttpMethod[]): string | null {
  if (methods.length === 0) return null;
  let text = joinedMethods.get(methods);
  if (text === undefined) {
    text = methods.join(', ');
    joinedMethods.set(methods, text);
  }
  return text;
}

/** A check that throws allows nothing. The request's own method has been checked already. */
async function permits(request: HostRequest, endpoint: Endpoint): Promise<boolean> {
  const { permission } = endpoint.definition;
  if (permission === undefined) return true;
  if (endpoint === request.match?.endpoint && request.permitted !== undefined) return request.permitted;
  try {
    return (await permission(request)) === true;
  } catch {
    return false;
  }
}

export interface FinishDependencies {
  readonly filters: RestFilters;
  readonly registry: RouteRegistry;
  readonly rest: () => Rest;
}

export type Finish = (response: RestResponse, request: HostRequest) => Promise<RestResponse>;

/** Runs after every dispatch: the header Allow, `_fields`, and `rest_post_dispatch`. */
export function createFinish({ filters, registry, rest }: FinishDependencies): Finish {
  return async (response, request) => {
    const found = request.method === 'OPTIONS' ? registry.matchPath(request.route) : request.match;
    if (found) await readPath(request, found);
    const allow = found ? await allowedMethods(request, found.route) : null;
    if (allow !== null) response.headers['Allow'] ??= allow;
    const wanted = request.params['_fields'] ?? request.query['_fields'];
    if (wanted !== undefined && !isErrorResponse(response)) response.body = filterFields(response.body, wanted);
    shapeForClients(response, found ?? registry.matchPath(request.route), request.id);
    return (await filters.run('rest_post_dispatch', response, rest(), request)) as RestResponse;
  };
}

/** A request that was refused before its method was matched has the shape of the route's other methods. */
function shapeForClients(response: RestResponse, found: Pick<Match, 'route'> | null, requestId: string): void {
  for (const { definition } of found?.route.endpoints ?? []) {
    const { errorBody, requestIdHeader } = definition;
    if (requestIdHeader !== undefined) response.headers[requestIdHeader] ??= requestId;
    if (errorBody === undefined || !isErrorResponse(response)) continue;
    response.body = errorBody(response.body as ErrorBody, requestId);
    return;
  }
}

/** Gives permission checks the path of a request whose parameters were not read, or not accepted. */
async function readPath(request: HostRequest, { route, url }: Pick<Match, 'route' | 'url'>): Promise<void> {
  if (Object.keys(request.params).length > 0) return;
  const params: Params = {};
  for (const [name, value] of Object.entries(url)) {
    const argument = route.endpoints[0]?.args.get(name);
    const accepted = argument === undefined ? { value } : await argument.accept(value, request);
    if ('error' in accepted) return;
    params[name] = accepted.value;
  }
  request.params = params;
}

/** Selected members as a tree: `id,content.raw` -> `{id: true, content: {raw: true}}`. */
type FieldTree = Map<string, FieldTree | true>;

/**
 * Selects the members named by `_fields`: a comma-separated list or an array, with dots for nested members. Lists are
 * filtered item by item; values without members are unchanged.
 */
function filterFields(data: unknown, wanted: unknown): unknown {
  const names = parseList(wanted);
  if (names.length === 0) return data;
  const tree = buildTree(names);
  return Array.isArray(data) ? data.map((item: unknown) => pick(item, tree)) : pick(data, tree);
}

function buildTree(names: readonly string[]): FieldTree {
  const root: FieldTree = new Map();
  for (const name of names) {
    const parts = name.split('.');
    const last = parts.pop() ?? '';
    const branch = findBranch(root, parts);
    branch?.set(last, true);
  }
  return root;
}

/** Null when an enclosing member is selected already. */
function findBranch(root: FieldTree, parts: readonly string[]): FieldTree | null {
  let tree = root;
  for (const part of parts) {
    const present = tree.get(part);
    if (present === true) return null;
    const next: FieldTree = present ?? new Map();
    tree.set(part, next);
    tree = next;
  }
  return tree;
}

function pick(data: unknown, tree: FieldTree): unknown {
  if (!isRecord(data)) return data;
  const picked: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(data)) {
    const wanted = tree.get(name);
    if (wanted !== undefined) picked[name] = wanted === true ? member : pick(member, wanted);
  }
  return picked;
}
