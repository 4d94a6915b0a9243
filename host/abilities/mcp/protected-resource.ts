import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HooksApi, SiteApi } from '#plugin-api';

/** The site, with the absolute URL of the REST root, which ends with a slash. */
export type McpSite = Pick<SiteApi, 'url' | 'name' | 'version'> & { restRoot(): string };

export interface ProtectedResourceDependencies {
  readonly site: McpSite;
  readonly hooks: Pick<HooksApi, 'hasFilter'>;
}

const wellKnown = '/.well-known/oauth-protected-resource';

/** Whether a plugin takes keys as `Authorization: Bearer`. The host has none itself. */
export function takesBearerKeys(hooks: Pick<HooksApi, 'hasFilter'>): boolean {
  return hooks.hasFilter('ability_caller') !== false;
}

/** The address of what the MCP server says of itself (RFC 9728, 3.1). */
export function metadataAddress(site: McpSite): string {
  const { origin, pathname } = new URL(`${site.restRoot()}mcp/v1`);
  return `${origin}${wellKnown}${pathname}`;
}

/**
 * What RFC 9728 asks of a server that takes bearer tokens: for the MCP server, and for the site, where clients look next. It
 * names no authorization server, because an administrator makes the keys: there is none that a client could ask for a token.
 */
export function createProtectedResource({ site, hooks }: ProtectedResourceDependencies) {
  return async ({ method, url = '' }: IncomingMessage, response: ServerResponse, next: () => void): Promise<void> => {
    const path = url.split('?', 1)[0] ?? '';
    const isRead = method === 'GET' || method === 'HEAD';
    if (!isRead || !path.startsWith(wellKnown) || !takesBearerKeys(hooks)) return next();
    const isServer = path === new URL(metadataAddress(site)).pathname;
    if (!isServer && path !== wellKnown) return next();
    const body = {
      resource: isServer ? `${site.restRoot()}mcp/v1` : site.url,
      resource_name: await site.name(),
      bearer_methods_supported: ['header'],
    };
    response
      .writeHead(200, {
        ...{ 'Content-Type': 'application/json', 'Cache-Control': 'no-store', 'Access-Control-Allow-Origin': '*' },
      })
      .end(method === 'HEAD' ? undefined : JSON.stringify(body));
  };
}
