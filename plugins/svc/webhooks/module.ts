import { lazy, type HostApi } from '#plugin-api';
import { lazyCommands, lazyPages } from '../kit/lazy.ts';
import { defineModule, type ModulePorts } from '../kit/module.ts';
import type { WebhookService } from './create-webhooks.ts';
import { eventsRoute } from './events.route.ts';
import { tables, webhookMigrations } from './migrations.ts';
import { cataloguePath, endpointSlug, webhooksSlug } from './pages/pages-context.ts';
import { addPauseMails } from './pause-mails.ts';
import { fallbackHook, registerWebhooks, sweepHook } from './register.ts';

/** Dependencies of the pages, commands and routes of event webhooks. */
export interface WebhooksPorts extends ModulePorts {
  readonly host: HostApi;
  readonly webhooks: WebhookService;
}

export const webhooksModule = defineModule<WebhooksPorts>({
  routes: [eventsRoute],
  pages: lazyPages({
    slug: webhooksSlug,
    title: 'Webhooks',
    group: 'developers',
    icon: 'send',
    position: 25,
    style: 'webhooks.css',
    script: 'webhooks.js',
    body: () => import('./pages/settings.page.ts'),
    subpages: [
      {
        slug: endpointSlug,
        title: 'Webhook endpoint',
        script: 'webhooks.js',
        body: () => import('./pages/endpoint.page.ts'),
      },
    ],
  }),
  commands: [
    lazyCommands(async () => (await import('./commands/webhook-commands.ts')).webhookCommands),
    lazyCommands(async () => (await import('./commands/queue-commands.ts')).queueCommands),
    lazyCommands(async () => (await import('./commands/event-commands.ts')).eventCommands),
  ],
  migrations: webhookMigrations,
  tables: Object.values(tables),
  jobs: [fallbackHook, sweepHook],
  register: async ({ host, webhooks }) => {
    await registerWebhooks(host, webhooks);
    addPauseMails({ host, webhooks });
    host.hooks.addAction('wp_abilities_api_init', async () =>
      (await import('./webhook-abilities.ts')).registerWebhookAbilities(host.abilities, webhooks),
    );
    host.site.addPage({
      path: cataloguePath,
      title: 'Webhook events',
      description: 'The events that this site sends, their fields and examples.',
      style: 'webhook-events.css',
      render: lazy(async () => (await import('./pages/catalogue.page.ts')).renderCatalogue({ host, webhooks })),
    });
  },
});
