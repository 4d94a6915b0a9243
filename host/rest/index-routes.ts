import { RestResponse, zoneOffset, type RestRequest, type RouteDefinition, type OpenApiDocument } from '#plugin-api';
import type { RouteRegistry } from './registry.ts';
import type { RestFilters } from './rest-filters.ts';
import { describeRoute } from './route-description.ts';
import { parseList } from './schema/values.ts';

declare module '#plugin-api' {
  interface FilterMap {
    /** Adds to the OpenAPI document of a namespace, for example `webhooks`. Each call gets a new document, which may be changed. */
    rest_openapi: (document: OpenApiDocument, namespace: string) => OpenApiDocument;
  }
}

interface OpenApiDependencies {
  readonly registry: RouteRegistry;
  readonly filters: RestFilters;
  readonly site: Pick<RestSite, 'name'>;
  readonly url: (route: string) => string;
  /** Name of the session's cookie. */
  readonly sessionCookie: string;
}

/** Builds the document of a namespace; null when it has no routes. The generator loads on first use. */
type BuildOpenApi = (namespace: string) => Promise<OpenApiDocument | null>;

export function createOpenApi({ registry, filters, site, url, sessionCookie }: OpenApiDependencies): BuildOpenApi {
  return async (namespace) => {
    // The document of the root describes the routes of every namespace.
    const routes = registry.routes().filter((route) => namespace === '' || route.namespace === namespace);
    if (routes.length === 0) return null;
    const { describeNamespace } = await import('./openapi/document.ts');
    const document = describeNamespace({
      namespace,
      routes,
      cookie: sessionCookie,
      siteName: await site.name(),
      url: url(`/${namespace}`).replace(/\/$/, ''),
    });
    // A copy: a filter may change it, and the route definitions must not change.
    const own = JSON.parse(JSON.stringify(document)) as OpenApiDocument;
    return (await filters.run('rest_openapi', own, namespace)) as OpenApiDocument;
  };
}

/** `{root}/{namespace}/openapi.json`, public like the index, and not listed in any index. */
export function createOpenApiRoute(namespace: string, buildOpenApi: BuildOpenApi): RouteDefinition {
  return { showInIndex: false, handler: () => buildOpenApi(namespace) };
}

/** The site's data in the root index. */
export interface RestSite {
  /** The option `blogname`. */
  name(): Promise<string>;
  /** The option `blogdescription`. */
  description?(): Promise<string>;
  /** IANA name, or empty. */
  timezone?(): Promise<string>;
  /** Authentication methods besides cookies, by name, such as WordPress's application passwords. */
  authentication?(): Promise<Readonly<Record<string, unknown>>>;
}

export interface IndexDependencies {
  readonly registry: RouteRegistry;
  readonly filters: RestFilters;
  readonly site: RestSite;
  /** Without a trailing slash. */
  readonly siteUrl: () => string;
  readonly url: (route: string) => string;
  readonly now: () => number;
}

const contextArgument = { context: { default: 'view' } } as const;

/** `{root}/`: the site, its namespaces and all visible routes. */
export function createRootIndex({ registry, filters, site, siteUrl, url, now }: IndexDependencies): RouteDefinition {
  return {
    summary: 'Describes the site with its namespaces and routes.',
    args: contextArgument,
    handler: async (request) => {
      const timezone = (await site.timezone?.()) ?? '';
      const authentication = (await site.authentication?.()) ?? {};
      const body = {
        name: await site.name(),
        description: (await site.description?.()) ?? '',
        url: siteUrl(),
        home: siteUrl(),
        gmt_offset: zoneOffset(now(), timezone) / 3_600_000,
        timezone_string: timezone,
        namespaces: registry.namespaces(),
        authentication: Object.keys(authentication).length === 0 ? [] : authentication,
        routes: describeRoutes(registry, { url }),
      };
      const links = { help: [{ href: 'https://developer.wordpress.org/rest-api/' }] };
      const response = new RestResponse(wantsLinks(request) ? { body, links } : { body });
      return filters.run('rest_index', response, request);
    },
  };
}

/** With `_fields`, only if `_links` is among them. */
function wantsLinks({ params }: RestRequest): boolean {
  const wanted = parseList(params['_fields']);
  return wanted.length === 0 || wanted.includes('_links');
}

/** `{root}/{namespace}`: the routes of one namespace. */
export function createNamespaceIndex(
  namespace: string,
  { registry, filters, url }: IndexDependencies,
): RouteDefinition {
  return {
    summary: 'Lists the routes of the namespace.',
    args: { namespace: { default: namespace }, ...contextArgument },
    handler: (request: RestRequest) => {
      const body = { namespace, routes: describeRoutes(registry, { url, namespace }) };
      return filters.run(
        'rest_namespace_index',
        new RestResponse({ body, links: { up: [{ href: url('/') }] } }),
        request,
      );
    },
  };
}

function describeRoutes(
  registry: RouteRegistry,
  { url, namespace }: { url: (route: string) => string; namespace?: string },
): Record<string, unknown> {
  const shown = registry.routes().filter((route) => namespace === undefined || route.namespace === namespace);
  const described = shown.map((route) => [route.pattern.path, describeRoute(route, { url })] as const);
  return Object.fromEntries(described.filter(([, description]) => description !== null));
}
