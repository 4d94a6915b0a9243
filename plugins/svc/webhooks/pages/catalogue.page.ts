import type { PublicPage } from '#plugin-api';
import { catalogueView } from './catalogue-view.ts';
import type { WebhookPagesContext } from './pages-context.ts';

/** The public catalogue of events with their fields and examples. */
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
