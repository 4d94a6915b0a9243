import type { Params } from '#plugin-api';

export interface Paging {
  readonly total: number;
  readonly page: number;
  readonly perPage: number;
  /** Address of the collection. */
  readonly url: string;
  /** The request's own parameters, kept in the links. */
  readonly query: Params;
}

/** `X-WP-Total`, `X-WP-TotalPages` and `Link` of one page of a collection. */
export function pagingHeaders({ total, page, perPage, url, query }: Paging): Record<string, string> {
  const pages = Math.ceil(total / perPage);
  const link = (to: number, relation: string): string =>
    `<${url}?${encode({ ...query, page: String(to) })}>; rel="${relation}"`;
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

/** Parameters as PHP reads them: `roles[0]=editor`. */
function encode(query: Params): string {
  const pairs = new URLSearchParams();
  const add = (name: string, value: unknown): void => {
    if (typeof value !== 'object' || value === null) pairs.append(name, String(value ?? ''));
    else for (const [key, member] of Object.entries(value)) add(`${name}[${key}]`, member);
  };
  for (const [name, value] of Object.entries(query)) add(name, value);
  return pairs.toString();
}
