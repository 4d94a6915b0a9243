import type { HostApi } from '#plugin-api';

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
