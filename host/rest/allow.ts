import type { HttpMethod } from '#plugin-api';
import type { Endpoint } from './endpoint.ts';
import type { Route } from './registry.ts';
import type { HostRequest } from './host-request.ts';

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
