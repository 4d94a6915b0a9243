import { RestResponse, type Params, type RestRequest } from './rest.ts';

export interface Paging {
  /** Number of items on all pages. */
  readonly total: number;
  /** 1 or more. */
  readonly page: number;
  readonly perPage: number;
  /** URL of the collection without a query: `host.rest.url('/orders/v1/orders')`. */
  readonly url: string;
  /** Parameters of the request, which the links repeat. */
  readonly query: Params;
}

/** `X-WP-Total`, `X-WP-TotalPages` and `Link` of one page of a collection. */
export function pagingHeaders({ total, page, perPage, url, query }: Paging): Record<string, string> {
  const pages = Math.ceil(total / perPage);
  const link = (to: number, relation: string): string =>
    `<${url}?${buildQuery({ ...query, page: String(to) })}>; rel="${relation}"`;
  const links = [
    ...(page > 1 ? [link(Math.max(1, Math.min(page - 1, pages)), 'prev')] : []),
    ...(page < pages ? [link(page + 1, 'next')] : []),
  ];
  return {
    'X-WP-Total': String(total),
    'X-WP-TotalPages': String(pages),
    ...(links.length > 0 && { Link: links.join(', ') }),
  };
}

/**
 * The response of a route with the arguments `...pagingArguments`: the items of the page in `request.params`, with the headers
 * of `pagingHeaders`. Skip `(page - 1) * per_page` items when you read them.
 */
export function pagedResponse<P extends { readonly page: number; readonly per_page: number }>(
  items: readonly unknown[],
  {
    total,
    url,
    request,
  }: Pick<Paging, 'total' | 'url'> & { readonly request: Pick<RestRequest<P>, 'params' | 'query'> },
): RestResponse {
  const { page, per_page: perPage } = request.params;
  return new RestResponse({ body: items, headers: pagingHeaders({ total, page, perPage, url, query: request.query }) });
}

/** Encodes parameters for PHP: `status[0]=draft`. */
function buildQuery(query: Params): string {
  const pairs = new URLSearchParams();
  const add = (name: string, value: unknown): void => {
    if (typeof value !== 'object' || value === null) pairs.append(name, String(value ?? ''));
    else for (const [key, member] of Object.entries(value)) add(`${name}[${key}]`, member);
  };
  for (const [name, value] of Object.entries(query)) add(name, value);
  return pairs.toString();
}

/** As in WordPress, `_fields` omits the links unless it names them. */
export function wantsLinks({ query }: Pick<RestRequest, 'query'>): boolean {
  const fields = query['_fields'];
  return fields === undefined || [fields].flat().some((list) => /(^|,)\s*(_links|_embedded)\b/.test(String(list)));
}
