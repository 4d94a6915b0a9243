import type { HostApi } from '#plugin-api';
import type { Webhooks } from '../webhooks.ts';

/** What the settings pages and the commands of event webhooks work with. */
export interface WebhookPagesContext {
  readonly host: HostApi;
  readonly webhooks: Webhooks;
}

/** Slugs of the pages. */
export const webhooksSlug = 'svc/webhooks';
export const endpointSlug = 'svc/webhooks/endpoint';
/** Address of the public catalogue, below the site. */
export const cataloguePath = 'webhook-events';
