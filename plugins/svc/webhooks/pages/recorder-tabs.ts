import type { HostApi } from '#plugin-api';

const pages = [
  { slug: 'svc/webhooks', label: 'Endpoints' },
  { slug: 'svc/deliveries', label: 'Deliveries' },
  { slug: 'svc/deliveries/why-not', label: 'Why not?' },
  { slug: 'svc/deliveries/inbox', label: 'Inbox' },
] as const;

/** Tabs of the pages about deliveries. */
export function recorderTabs({ admin }: Pick<HostApi, 'admin'>, current: (typeof pages)[number]['slug'] | null) {
  return pages.map(({ slug, label }) => ({ label, href: admin.url(slug), current: slug === current }));
}
