import { trimSlashes } from '#plugin-api';
import type { Params } from '#plugin-api';

/** A compiled route path with its parameters. */
export interface RoutePattern {
  /** As WordPress writes it: `/anch/v1/echo/(?P<id>\d+)`. */
  readonly path: string;
  /** Whether it has no parameters or other patterns, so that equal text matches. */
  readonly isStatic: boolean;
  /** The path's parameters as received, or null when it does not match. Case-insensitive. */
  match(path: string): Params | null;
}

/**
 * @param namespace `vendor/v1`, or empty for routes of the root.
 * @param route path below it; parameters are written `(?P<id>\d+)` or `{id}` (anything but a slash).
 * @throws Error when the route is not a valid pattern.
 */
export function compileRoutePattern(namespace: string, route: string): RoutePattern {
  const named = route.replace(/\{([A-Za-z_]\w*)\}/g, '(?P<$1>[^/]+)');
  const path = `/${[namespace, trimSlashes(named)].filter((part) => part !== '').join('/')}`;
  const isStatic = /^[\w/.~-]*$/.test(path);
  const regexp = compile(isStatic ? path.replaceAll('.', '\\.') : path, path);
  return {
    path,
    isStatic,
    match(candidate) {
      const found = regexp.exec(candidate);
      return found === null ? null : namedGroups(found.groups);
    },
  };
}

function compile(source: string, path: string): RegExp {
  try {
    return new RegExp(`^${source.replaceAll('(?P<', '(?<')}$`, 'i');
  } catch (error) {
    throw new Error(`The route '${path}' is not a valid pattern. Write parameters as {name} or (?P<name>...).`, {
      cause: error,
    });
  }
}

function namedGroups(groups: Readonly<Record<string, string | undefined>> | undefined): Params {
  const params: Params = {};
  if (groups !== undefined)
    for (const name of Object.keys(groups)) if (groups[name] !== undefined) params[name] = groups[name];
  return params;
}
