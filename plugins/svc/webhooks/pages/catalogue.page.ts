import type { PublicPage } from '#plugin-api';
import { catalogueView } from './catalogue-view.ts';
import type { WebhookPagesContext } from './settings-context.ts';

/** The catalogue of events, for everybody: what can be received, and what it looks like. */
export function renderCatalogue({ host, webhooks }: WebhookPagesContext): PublicPage['render'] {
  return async () => ({
    template: 'svc/webhooks-catalogue',
    data: catalogueView({
      catalogue: webhooks.catalogue,
      site: { url: host.site.url, name: await host.site.name() },
      plugin: host.plugin,
      eventsUrl: host.rest.url('/svc/v1/events'),
    }),
  });
}
