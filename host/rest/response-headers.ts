import type { RestResponse } from '#plugin-api';
import type { RestFilters } from './rest-filters.ts';

export interface HeaderDependencies {
  readonly filters: RestFilters;
  /** Absolute URL of the REST root, with a trailing slash. */
  readonly root: () => string;
  readonly isAllowedOrigin: (origin: string) => boolean;
}

export interface HeaderRequest {
  readonly method: string;
  readonly origin: string | undefined;
  readonly isSignedIn: boolean;
  /** The route's decision about the origin; undefined: the setting applies. */
  readonly allowsOrigin?: boolean | undefined;
  /** Whether caches must not store the response. */
  readonly isPrivate: boolean;
  readonly id: string;
}

const exposed = ['X-WP-Total', 'X-WP-TotalPages', 'Link'] as const;
const accepted = ['Authorization', 'X-WP-Nonce', 'Content-Disposition', 'Content-MD5', 'Content-Type'] as const;
const methods = 'OPTIONS, GET, POST, PUT, PATCH, DELETE';

/** Spelling of the headers that the host sets, so that a response's own header replaces it in any case. */
const spelling: Readonly<Record<string, string>> = {
  'content-type': 'Content-Type',
  'cache-control': 'Cache-Control',
  'x-robots-tag': 'X-Robots-Tag',
  'x-content-type-options': 'X-Content-Type-Options',
  'access-control-expose-headers': 'Access-Control-Expose-Headers',
  'access-control-allow-headers': 'Access-Control-Allow-Headers',
  'access-control-allow-origin': 'Access-Control-Allow-Origin',
  'access-control-allow-methods': 'Access-Control-Allow-Methods',
  'access-control-allow-credentials': 'Access-Control-Allow-Credentials',
  'x-request-id': 'X-Request-Id',
};

/**
 * Headers of every REST response: WordPress's, `X-Request-Id` (D4) and the discovery link (D1), after the response's own
 * links. Scripts of other sites need an allowed origin; the header names that origin, never `*` (D16).
 */
export function createResponseHeaders({ filters, root, isAllowedOrigin }: HeaderDependencies) {
  return (request: HeaderRequest, response: RestResponse): Record<string, string> => {
    const discovery = `<${root()}>; rel="https://api.w.org/"`;
    const headers: Record<string, string> = {
      'Content-Type': 'application/json; charset=UTF-8',
      Link: discovery,
      'X-Robots-Tag': 'noindex',
      'X-Content-Type-Options': 'nosniff',
      'Access-Control-Expose-Headers': listed(filters.runNow('rest_exposed_cors_headers', exposed)),
      'Access-Control-Allow-Headers': listed(filters.runNow('rest_allowed_cors_headers', accepted)),
      'X-Request-Id': request.id,
    };
    if (request.isPrivate) headers['Cache-Control'] = 'no-cache, must-revalidate, max-age=0, no-store, private';
    addCors(headers, request, isAllowedOrigin);
    for (const [name, value] of Object.entries(response.headers)) addOwn(headers, name, String(value));
    return headers;
  };
}

function listed(names: unknown): string {
  return names === exposed
    ? exposedText
    : names === accepted
      ? acceptedText
      : Array.isArray(names)
        ? names.join(', ')
        : '';
}

const exposedText = exposed.join(', ');
const acceptedText = accepted.join(', ');

/** Seconds a browser may cache a preflight. */
const preflightAge = '600';

function addCors(
  headers: Record<string, string>,
  { method, origin, isSignedIn, allowsOrigin }: HeaderRequest,
  isAllowedOrigin: (origin: string) => boolean,
): void {
  if (origin === undefined) {
    if ((method === 'GET' || method === 'HEAD') && !isSignedIn) headers['Vary'] = 'Origin';
    return;
  }
  headers['Vary'] = 'Origin';
  if (!(allowsOrigin ?? isAllowedOrigin(origin))) return;
  headers['Access-Control-Allow-Origin'] = origin;
  headers['Access-Control-Allow-Methods'] = methods;
  if (allowsOrigin === undefined) headers['Access-Control-Allow-Credentials'] = 'true';
  else if (method === 'OPTIONS') headers['Access-Control-Max-Age'] = preflightAge;
}

function addOwn(headers: Record<string, string>, name: string, value: string): void {
  const lower = name.toLowerCase();
  if (lower === 'link') headers['Link'] = `${value}, ${String(headers['Link'])}`;
  else if (lower === 'vary') headers['Vary'] = headers['Vary'] === undefined ? value : `${headers['Vary']}, ${value}`;
  else headers[spelling[lower] ?? name] = value;
}
