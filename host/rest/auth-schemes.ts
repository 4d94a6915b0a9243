import type { RouteDefinition, RouteSecurity } from '#plugin-api';

/** The authentication schemes of a route: as declared, else derived from its checks. */
export function authSchemesOf({
  security,
  authenticate,
  permission,
}: Pick<RouteDefinition, 'security' | 'authenticate' | 'permission'>): readonly RouteSecurity[] {
  if (security !== undefined) return security;
  if (permission !== undefined) return ['session', 'application_password'];
  return authenticate === undefined ? ['none'] : ['bearer'];
}
