import { formatNumber, type AdminActionResult } from '#plugin-api';

type Content = AsyncIterable<string | Uint8Array>;

/** The download of a list in the format of the posted form: JSON lines, or else CSV. @param name without ending */
export function exportList(
  { format }: Readonly<Record<string, unknown>>,
  name: string,
  write: { readonly csv: () => Content; readonly jsonl: () => Content },
): AdminActionResult {
  return {
    download:
      format === 'jsonl'
        ? { name: `${name}.jsonl`, type: 'application/jsonl; charset=utf-8', content: write.jsonl() }
        : { name: `${name}.csv`, type: 'text/csv; charset=utf-8; header=present', content: write.csv() },
  };
}

/** The page of a list that a query names; the last one if there are fewer. */
export function listPage({ page }: Readonly<Record<string, unknown>>, total: number, perPage: number) {
  const pages = Math.max(1, Math.ceil(total / perPage));
  const number = Math.min(pages, Math.max(1, Math.trunc(Number(page)) || 1));
  return { page: number, pages, limit: perPage, offset: (number - 1) * perPage };
}

/** Links for the partial `admin/pages/pagination`, or null for a single page. Empty parameters are left out. */
export function paginate({
  page,
  pages,
  query,
  parameter = 'page',
}: {
  readonly page: number;
  readonly pages: number;
  readonly query: Readonly<Record<string, string>>;
  /** Names the page in the query. */
  readonly parameter?: string;
}): Record<string, unknown> | null {
  if (pages <= 1) return null;
  const url = (to: number): string => {
    const parameters = Object.entries({ ...query, [parameter]: to === 1 ? '' : String(to) });
    return `?${new URLSearchParams(parameters.filter(([, value]) => value !== '')).toString()}`;
  };
  return {
    text: `Page ${formatNumber(page)} of ${formatNumber(pages)}`,
    previous: page > 1 ? url(page - 1) : null,
    next: page < pages ? url(page + 1) : null,
  };
}
