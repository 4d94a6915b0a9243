/** What the partial `admin/pages/pagination` shows; null when everything is on one page. */
export interface Pagination {
  readonly text: string;
  readonly previous: string | null;
  readonly next: string | null;
}

export interface PaginationInit {
  readonly total: number;
  readonly page: number;
  readonly perPage: number;
  /** Parameters of the address that stay; empty ones are left out. */
  readonly query: Readonly<Record<string, string>>;
}

export function paginate({ total, page, perPage, query }: PaginationInit): Pagination | null {
  const pages = Math.ceil(total / perPage);
  if (pages <= 1) return null;
  const address = (to: number): string => {
    const kept = Object.entries({ ...query, page: to === 1 ? '' : String(to) }).filter(([, value]) => value !== '');
    return `?${new URLSearchParams(kept).toString()}`;
  };
  return {
    text: `Page ${page} of ${pages}`,
    previous: page > 1 ? address(Math.min(page - 1, pages)) : null,
    next: page < pages ? address(page + 1) : null,
  };
}
