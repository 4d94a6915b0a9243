import type { AdminRequest, HostApi } from '#plugin-api';

/** Where the pages are. */
export const slugs = {
  write: 'svc/content',
  runs: 'svc/content/runs',
  batch: 'svc/content/batch',
  templates: 'svc/content/templates',
  template: 'svc/content/template',
} as const;

/** Who may open the pages: whoever edits what others write. What a text may become is for the user's own capabilities to say. */
export const contentCapability = 'edit_others_posts';

/** The tabs over all pages of the content writer. */
export function tabsOf(
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

/** A number of the address, or null. */
export function idOf(given: unknown): number | null {
  return typeof given === 'string' && /^[1-9]\d{0,8}$/.test(given) ? Number(given) : null;
}

/** A page of a list, from 1. */
export function pageOf({ query }: Pick<AdminRequest, 'query'>, name = 'page'): number {
  return idOf(query[name]) ?? 1;
}

/** For the host's partial `admin/pages/pagination`; null where one page holds all. */
export function pagesOf({
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
