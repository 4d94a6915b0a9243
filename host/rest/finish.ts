import type { RestResponse } from '#plugin-api';
import { allowedMethods } from './allow.ts';
import { isErrorResponse } from './error-response.ts';
import type { RouteRegistry } from './registry.ts';
import type { HostRequest } from './host-request.ts';
import type { Rest } from './rest-contract.ts';
import type { RestFilters } from './rest-filters.ts';
import { isPlainObject, parseList } from './schema/values.ts';

export interface FinishDependencies {
  readonly filters: RestFilters;
  readonly registry: RouteRegistry;
  readonly rest: () => Rest;
}

export type Finish = (response: RestResponse, request: HostRequest) => Promise<RestResponse>;

/** Runs after every dispatch: the header Allow, `_fields`, and `rest_post_dispatch`. */
export function createFinish({ filters, registry, rest }: FinishDependencies): Finish {
  return async (response, request) => {
    const route = request.method === 'OPTIONS' ? registry.matchPath(request.route)?.route : request.match?.route;
    const allow = route === undefined ? null : await allowedMethods(request, route);
    if (allow !== null) response.headers['Allow'] ??= allow;
    const wanted = request.params['_fields'] ?? request.query['_fields'];
    if (wanted !== undefined && !isErrorResponse(response)) response.body = filterFields(response.body, wanted);
    return (await filters.run('rest_post_dispatch', response, rest(), request)) as RestResponse;
  };
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
  if (!isPlainObject(data)) return data;
  const picked: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(data)) {
    const wanted = tree.get(name);
    if (wanted !== undefined) picked[name] = wanted === true ? member : pick(member, wanted);
  }
  return picked;
}
