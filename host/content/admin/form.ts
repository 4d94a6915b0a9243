import type { AdminRequest, PostType } from '#plugin-api';

/** A text field of the posted form with Unix line endings. Undefined when it is missing. */
export function readText({ form }: Pick<AdminRequest, 'form'>, name: string): string | undefined {
  const value = form[name];
  return typeof value === 'string' ? value.replace(/\r\n?/g, '\n') : undefined;
}

/** A query parameter, trimmed. Empty when it is missing. */
export function readQuery({ query }: Pick<AdminRequest, 'query'>, name: string): string {
  const value = query[name];
  return typeof value === 'string' ? value.trim() : '';
}

/** Parses a non-negative integer. Returns 0 for anything else. */
export function parseId(text: string | undefined): number {
  return /^\d{1,9}$/.test(text ?? '') ? Number(text) : 0;
}

export interface Pagination {
  readonly text: string;
  readonly previous: string | null;
  readonly next: string | null;
}

/** Data for the partial `admin/pages/pagination`, null when everything fits on one page. Omits empty parameters. */
export function paginate({
  total,
  page,
  perPage,
  query,
}: {
  readonly total: number;
  readonly page: number;
  readonly perPage: number;
  readonly query: Readonly<Record<string, string>>;
}): Pagination | null {
  const pages = Math.ceil(total / perPage);
  if (pages <= 1) return null;
  const address = (to: number): string =>
    `?${new URLSearchParams(
      Object.entries({ ...query, page: to === 1 ? '' : String(to) }).filter(([, value]) => value !== ''),
    ).toString()}`;
  return {
    text: `Page ${page} of ${pages}`,
    previous: page > 1 ? address(Math.min(page - 1, pages)) : null,
    next: page < pages ? address(page + 1) : null,
  };
}

/** Admin path of the list of a type. */
export function listPath({ name }: Pick<PostType, 'name'>): string {
  const own: Readonly<Record<string, string>> = { post: 'posts', page: 'pages', attachment: 'media' };
  return own[name] ?? `content/${name}`;
}
