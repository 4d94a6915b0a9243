import type { PublicPage } from '#plugin-api';
import { catalogueView } from './catalogue-view.ts';
import { cataloguePath, type WebhookPagesContext } from './settings-context.ts';

/** The catalogue of events, for everybody: what can be received, and what it looks like. */
export function cataloguePage({ host, webhooks }: WebhookPagesContext): PublicPage {
  return {
    path: cataloguePath,
    title: 'Webhook events',
    description: 'The events that this site sends, their fields and examples.',
    style: 'webhook-events.css',
    render: async () => ({
      template: 'svc/webhooks-catalogue',
      data: catalogueView({ catalogue: webhooks.catalogue, site: { url: host.site.url, name: await host.site.name() }, plugin: host.plugin, eventsUrl: host.rest.url('/svc/v1/events') }),
    }),
  };
}
