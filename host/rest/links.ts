import { trimTrailingSlashes } from '#plugin-api';
import type { RestLink, RestResponse } from '#plugin-api';
import { allowedMethods } from './finish.ts';
import { readParameters } from './parameters.ts';
import { parseQuery } from './php-query.ts';
import type { RouteRegistry } from './registry.ts';
import type { HostRequest } from './host-request.ts';
import type { LinkCurie, RestFilters } from './rest-filters.ts';

export interface LinksDependencies {
  readonly registry: RouteRegistry;
  readonly filters: RestFilters;
  /** Absolute URL of the REST root, with a trailing slash. */
  readonly root: () => string;
}

type CompactLinks = Record<string, Record<string, unknown>[]>;

export interface Links {
  /** `_links` of a response: known relations as CURIEs, and the allowed methods of `self` links. Null without links. */
  compact(response: RestResponse, request: HostRequest): Promise<CompactLinks | null>;
  /** A request for a URL of this site's REST interface, or null for any other URL. */
  createRequest(href: string, request: HostRequest): HostRequest | null;
}

const hostCurie: LinkCurie = { name: 'wp', href: 'https://api.w.org/{rel}', templated: true };

export function createLinks({ registry, filters, root }: LinksDependencies): Links {
  const createRequest = (href: string, request: HostRequest): HostRequest | null => {
    const base = root();
    const path = href.startsWith(base) ? href.slice(base.length) : href === base.slice(0, -1) ? '' : null;
    if (path === null) return null;
    const [route = '', query = ''] = path.split('#', 1)[0]?.split(/\?(.*)/s) ?? [];
    return request.inner({ method: 'GET', route: `/${trimTrailingSlashes(route)}`, query: parseQuery(query) });
  };

  const withTargetHints = async (
    link: Record<string, unknown>,
    request: HostRequest,
  ): Promise<Record<string, unknown>> => {
    if (link['targetHints'] !== undefined) return link;
    const inner = createRequest(String(link['href']), request);
    const match = inner === null ? null : registry.match('GET', inner.route);
    if (inner === null || match === null) return link;
    inner.match = match;
    if ((await readParameters(inner, match.endpoint, match.url)) !== null) return link;
    const allow = await allowedMethods(inner, match.route);
    return allow === null ? link : { ...link, targetHints: { allow: allow.split(', ') } };
  };

  return {
    createRequest,
    async compact(response, request) {
      const relations = Object.entries(response.links).filter(([, links]) => links.length > 0);
      if (relations.length === 0) return null;
      const added = (await filters.run('rest_response_link_curies', [], response)) as readonly LinkCurie[];
      const curies = [hostCurie, ...added];
      const used = new Set<LinkCurie>();
      const compacted: CompactLinks = {};
      for (const [relation, links] of relations) {
        const name = shorten(relation, { curies, used });
        const items = links.map(attributesFirst);
        compacted[name] =
          relation === 'self' ? await Promise.all(items.map((link) => withTargetHints(link, request))) : items;
      }
      if (used.size > 0) compacted['curies'] = [...used].map((curie) => ({ ...curie }));
      return compacted;
    },
  };
}

function attributesFirst({ href, ...attributes }: RestLink): Record<string, unknown> {
  return { ...attributes, href };
}

function shorten(relation: string, { curies, used }: { curies: readonly LinkCurie[]; used: Set<LinkCurie> }): string {
  for (const curie of curies) {
    const [before = '', after = ''] = curie.href.split('{rel}');
    const isLonger = relation.length > before.length + after.length;
    if (!isLonger || !relation.startsWith(before) || !relation.endsWith(after)) continue;
    used.add(curie);
    return `${curie.name}:${relation.slice(before.length, relation.length - after.length)}`;
  }
  return relation;
}
