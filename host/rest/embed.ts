import { isRecord, type RestResponse } from '#plugin-api';
import { endContent } from './response-content.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { Finish } from './finish.ts';
import type { Links } from './links.ts';
import type { HostRequest } from './host-request.ts';
import { parseList } from './schema/values.ts';

/** Relations to embed: all (true), the named ones, or none (false). */
export type EmbedSelection = boolean | readonly string[];

export interface EmbedDependencies {
  readonly dispatcher: Dispatcher;
  readonly links: Links;
  readonly finish: Finish;
}

export interface Embedder {
  /** The body with `_links`, and `_embedded` if selected. */
  buildBody(response: RestResponse, request: HostRequest, selection: EmbedSelection): Promise<unknown>;
}

/** An empty `_embed`, `1` and `true` mean all; anything else is a list of relations. */
export function parseEmbedParam(value: unknown): EmbedSelection {
  if (value === undefined) return false;
  if (value === '' || value === 'true' || value === '1') return true;
  const relations = parseList(value);
  return relations.length === 0 ? true : relations;
}

export function createEmbedder({ dispatcher, links, finish }: EmbedDependencies): Embedder {
  const buildBody: Embedder['buildBody'] = async (response, request, selection) => {
    const compact = await links.compact(response, request);
    const body = compact !== null && isRecord(response.body) ? { ...response.body, _links: compact } : response.body;
    if (selection === false) return body;
    const cache = new Map<string, unknown>();
    if (!Array.isArray(body)) return embedLinks({ data: body, request, selection, cache });
    const items: unknown[] = [];
    for (const item of body as unknown[]) items.push(await embedLinks({ data: item, request, selection, cache }));
    return items;
  };

  interface Embedding {
    readonly data: unknown;
    readonly request: HostRequest;
    readonly selection: EmbedSelection;
    readonly cache: Map<string, unknown>;
  }

  const embedLinks = async ({ data, request, selection, cache }: Embedding): Promise<unknown> => {
    if (!isRecord(data) || !isRecord(data['_links'])) return data;
    const embedded: Record<string, unknown[]> = {};
    for (const [relation, items] of Object.entries(data['_links'])) {
      if (Array.isArray(selection) && !selection.includes(relation)) continue;
      const embeds: unknown[] = [];
      // A link that is not embedded leaves an empty entry, to keep the order of the links.
      for (const item of Array.isArray(items) ? (items as unknown[]) : [])
        embeds.push(isEmbeddable(item) ? await fetchEmbed(item.href, { request, cache }) : []);
      if (embeds.some((embed) => !Array.isArray(embed) || embed.length > 0)) embedded[relation] = embeds;
    }
    return Object.keys(embedded).length === 0 ? data : { ...data, _embedded: embedded };
  };

  const fetchEmbed = async (
    href: string,
    { request, cache }: Pick<Embedding, 'request' | 'cache'>,
  ): Promise<unknown> => {
    if (cache.has(href)) return cache.get(href);
    const inner = links.createRequest(href, request);
    if (inner === null) return [];
    inner.query['context'] ??= 'embed';
    const response = await finish(await dispatcher.dispatch(inner), inner);
    endContent(response.content);
    const body = await buildBody(response, inner, false);
    cache.set(href, body);
    return body;
  };

  return { buildBody };
}

function isEmbeddable(link: unknown): link is { href: string } {
  return isRecord(link) && Boolean(link['embeddable']) && typeof link['href'] === 'string';
}
