import type { RouteDefinition, RouteSecurity } from '#plugin-api';

/** The ways into a route: what it declares, else what its checks suggest. */
export function waysIn({
  security,
  authenticate,
  permission,
}: Pick<RouteDefinition, 'security' | 'authenticate' | 'permission'>): readonly RouteSecurity[] {
  if (security !== undefined) return security;
  if (permission !== undefined) return ['session', 'application_password'];
  return authenticate === undefined ? ['none'] : ['bearer'];
}
