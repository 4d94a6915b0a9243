import { RestResponse } from '#plugin-api';
import type { RestRequest, RouteDefinition } from '#plugin-api';
import type { RouteRegistry } from './registry.ts';
import type { RestFilters } from './rest-filters.ts';
import { describeRoute } from './route-description.ts';
import { parseList } from './schema/values.ts';

/** What the root index says of the site. */
export interface RestSite {
  /** The option `blogname`. */
  name(): Promise<string>;
  /** The option `blogdescription`. */
  description?(): Promise<string>;
  /** IANA name, or empty. */
  timezone?(): Promise<string>;
  /** Ways to sign in besides cookies, by name, as WordPress tells of application passwords. */
  authentication?(): Readonly<Record<string, unknown>>;
}

export interface IndexDependencies {
  readonly registry: RouteRegistry;
  readonly filters: RestFilters;
  readonly site: RestSite;
  /** Without a slash at its end. */
  readonly siteUrl: () => string;
  readonly url: (route: string) => string;
  readonly now: () => number;
}

const contextArgument = { context: { default: 'view' } } as const;

/** `{root}/`: the site, its namespaces and every route that is shown. */
export function createRootIndex({ registry, filters, site, siteUrl, url, now }: IndexDependencies): RouteDefinition {
  return {
    summary: 'The site, its namespaces and routes.',
    args: contextArgument,
    handler: async (request) => {
      const timezone = (await site.timezone?.()) ?? '';
      const authentication = site.authentication?.() ?? {};
      const body = {
        name: await site.name(),
        description: (await site.description?.()) ?? '',
        url: siteUrl(),
        home: siteUrl(),
        gmt_offset: offsetHours(timezone, now()),
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

/** With `_fields` only where they are named: the root's link is no part of the site's description. */
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
    summary: 'The routes of the namespace.',
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

/** Hours that the zone is ahead of UTC at this moment. */
function offsetHours(timezone: string, now: number): number {
  if (timezone === '') return 0;
  try {
    const name = new Intl.DateTimeFormat('en', { timeZone: timezone, timeZoneName: 'longOffset' })
      .formatToParts(now)
      .find(({ type }) => type === 'timeZoneName')?.value;
    const [, sign = '+', hours = '0', minutes = '0'] = /GMT([+-])(\d{2}):(\d{2})/.exec(name ?? '') ?? [];
    return Number(`${sign}1`) * (Number(hours) + Number(minutes) / 60);
  } catch {
    return 0;
  }
}
