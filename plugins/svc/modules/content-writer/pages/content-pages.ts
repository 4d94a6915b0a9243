import type { AdminRequest, HostApi } from '#plugin-api';

/** Slugs of the pages. */
export const slugs = {
  write: 'svc/content',
  runs: 'svc/content/runs',
  batch: 'svc/content/batch',
  templates: 'svc/content/templates',
  template: 'svc/content/template',
} as const;

/** The tabs of all pages of the content writer. */
export function contentTabs(
  { admin }: Pick<HostApi, 'admin'>,
  current: keyof typeof slugs,
): { readonly label: string; readonly href: string; readonly current: boolean }[] {
  const tab = (label: string, page: keyof typeof slugs, also?: keyof typeof slugs) => ({
    label,
    href: admin.url(slugs[page]),
    current: current === page || current === also,
  });
  return [tab('Write', 'write'), tab('Texts and batches', 'runs', 'batch'), tab('Templates', 'templates', 'template')];
}

/** The id in a query or form field, or null. */
export function parseId(given: unknown): number | null {
  return typeof given === 'string' && /^[1-9]\d{0,8}$/.test(given) ? Number(given) : null;
}

/** The page number in the query, from 1. */
export function readPageNumber({ query }: Pick<AdminRequest, 'query'>, name = 'page'): number {
  return parseId(query[name]) ?? 1;
}

/** For the host's partial `admin/pages/pagination`; null if there is only one page. */
export function pagination({
  page,
  total,
  size,
  href,
}: {
  readonly page: number;
  readonly total: number;
  readonly size: number;
  readonly href: (page: number) => string;
}): { readonly text: string; readonly previous: string | null; readonly next: string | null } | null {
  const pages = Math.ceil(total / size);
  if (pages <= 1) return null;
  return {
    text: `Page ${String(page)} of ${String(pages)}`,
    previous: page > 1 ? href(page - 1) : null,
    next: page < pages ? href(page + 1) : null,
  };
}
