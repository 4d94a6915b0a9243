import type { RestResponse } from '#plugin-api';
import { endContent } from './content.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { Finish } from './finish.ts';
import type { Links } from './links.ts';
import type { HostRequest } from './request.ts';
import { isPlainObject, parseList } from './schema/values.ts';

/** Which relations are embedded: all (true), those named, or none (false). */
export type EmbedWish = boolean | readonly string[];

export interface EmbedDependencies {
  readonly dispatcher: Dispatcher;
  readonly links: Links;
  readonly finish: Finish;
}

export interface Embedder {
  /** The body with `_links`, and with `_embedded` where wished for. */
  bodyOf(response: RestResponse, request: HostRequest, wish: EmbedWish): Promise<unknown>;
}

/** `_embed` alone, `1` or `true` mean all; else it is a list of relations. */
export function readEmbedWish(value: unknown): EmbedWish {
  if (value === undefined) return false;
  if (value === '' || value === 'true' || value === '1') return true;
  const relations = parseList(value);
  return relations.length === 0 ? true : relations;
}

export function createEmbedder({ dispatcher, links, finish }: EmbedDependencies): Embedder {
  const bodyOf: Embedder['bodyOf'] = async (response, request, wish) => {
    const compact = await links.compact(response, request);
    const body =
      compact !== null && isPlainObject(response.body) ? { ...response.body, _links: compact } : response.body;
    if (wish === false) return body;
    const cache = new Map<string, unknown>();
    if (!Array.isArray(body)) return embedLinks({ data: body, request, wish, cache });
    const items: unknown[] = [];
    for (const item of body as unknown[]) items.push(await embedLinks({ data: item, request, wish, cache }));
    return items;
  };

  interface Embedding {
    readonly data: unknown;
    readonly request: HostRequest;
    readonly wish: EmbedWish;
    readonly cache: Map<string, unknown>;
  }

  const embedLinks = async ({ data, request, wish, cache }: Embedding): Promise<unknown> => {
    if (!isPlainObject(data) || !isPlainObject(data['_links'])) return data;
    const embedded: Record<string, unknown[]> = {};
    for (const [relation, items] of Object.entries(data['_links'])) {
      if (Array.isArray(wish) && !wish.includes(relation)) continue;
      const embeds: unknown[] = [];
      // Places of links that are not embedded stay, empty, so that the order is that of the links.
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
    const inner = links.requestFor(href, request);
    if (inner === null) return [];
    inner.query['context'] ??= 'embed';
    const response = await finish(await dispatcher.dispatch(inner), inner);
    endContent(response.content);
    const body = await bodyOf(response, inner, false);
    cache.set(href, body);
    return body;
  };

  return { bodyOf };
}

function isEmbeddable(link: unknown): link is { href: string } {
  return isPlainObject(link) && Boolean(link['embeddable']) && typeof link['href'] === 'string';
}
