import type { OpenApiDocument, RouteDefinition } from '#plugin-api';
import type { RestSite } from './index-routes.ts';
import type { RouteRegistry } from './registry.ts';
import type { RestFilters } from './rest-filters.ts';

declare module '#plugin-api' {
  interface FilterMap {
    /** Adds to the OpenAPI document of a namespace, for example `webhooks`. The document is made anew for each call and may be changed. */
    rest_openapi: (document: OpenApiDocument, namespace: string) => OpenApiDocument;
  }
}

export interface OpenApiDependencies {
  readonly registry: RouteRegistry;
  readonly filters: RestFilters;
  readonly site: Pick<RestSite, 'name'>;
  readonly url: (route: string) => string;
  /** Name of the session's cookie. */
  readonly sessionCookie: string;
}

/** Makes the document of a namespace; null when it has no routes. The generator is loaded with the first document. */
export type MakeOpenApi = (namespace: string) => Promise<OpenApiDocument | null>;

export function createOpenApi({ registry, filters, site, url, sessionCookie }: OpenApiDependencies): MakeOpenApi {
  return async (namespace) => {
    const routes = registry.routes().filter((route) => route.namespace === namespace);
    if (routes.length === 0) return null;
    const { describeNamespace } = await import('./openapi/document.ts');
    const document = describeNamespace({
      namespace,
      routes,
      cookie: sessionCookie,
      siteName: await site.name(),
      url: url(`/${namespace}`).replace(/\/$/, ''),
    });
    // A filter may change what it is given, and the definitions of routes must not change with it.
    const own = JSON.parse(JSON.stringify(document)) as OpenApiDocument;
    return (await filters.run('rest_openapi', own, namespace)) as OpenApiDocument;
  };
}

/** `{root}/{namespace}/openapi.json`, for everybody, as the index is. It is in no index itself. */
export function createOpenApiRoute(namespace: string, makeOpenApi: MakeOpenApi): RouteDefinition {
  return { showInIndex: false, handler: () => makeOpenApi(namespace) };
}
