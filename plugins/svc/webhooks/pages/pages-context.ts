import type { HostApi } from '#plugin-api';
import type { ModulePorts } from '../../kit/module.ts';
import type { Webhooks } from '../webhooks.ts';
import type { HourlyCounts } from '../hourly-counts.ts';
import type { Inbox } from '../inbox/inbox.ts';

const pages = [
  { slug: 'svc/webhooks', label: 'Endpoints' },
  { slug: 'svc/deliveries/check', label: 'Delivery check' },
  { slug: 'svc/deliveries/inbox', label: 'Inbox' },
] as const;

/** Tabs of the pages below Webhooks. The deliveries have an entry in the menu. */
export function webhookTabs({ admin }: Pick<HostApi, 'admin'>, current: (typeof pages)[number]['slug']) {
  return pages.map(({ slug, label }) => ({ label, href: admin.url(slug), current: slug === current }));
}

/** Dependencies of the settings pages and commands of event webhooks. */
export interface WebhookPagesContext {
  readonly host: HostApi;
  readonly webhooks: Webhooks;
}

/** Slugs of the pages. */
export const webhooksSlug = 'svc/webhooks';
export const endpointSlug = 'svc/webhooks/endpoint';
/** Path of the public catalogue below the site. */
export const cataloguePath = 'webhook-events';

/** Dependencies of the pages about deliveries. */
export interface DeliveryPagesContext extends ModulePorts {
  readonly host: HostApi;
  readonly webhooks: Webhooks;
  readonly hours: HourlyCounts;
  readonly inbox: Inbox;
}
