import type { HostApi } from '#plugin-api';
import { defineModule, type ModuleContext } from '../kit/module.ts';
import { eventCommands } from './commands/event-commands.ts';
import { queueCommands } from './commands/queue-commands.ts';
import { webhookCommands } from './commands/webhook-commands.ts';
import type { WebhookService } from './create-webhooks.ts';
import { eventsRoute } from './events.route.ts';
import { webhookMigrations } from './migrations.ts';
import { cataloguePage } from './pages/catalogue.page.ts';
import { endpointPage } from './pages/endpoint.page.ts';
import { webhooksPage } from './pages/settings.page.ts';
import { fallbackHook, registerWebhooks, sweepHook } from './register.ts';

/** What the pages, commands and routes of event webhooks work with. */
export interface WebhooksContext extends ModuleContext {
  readonly host: HostApi;
  readonly webhooks: WebhookService;
}

/** Cron jobs, for uninstalling. */
export const webhookJobs: readonly string[] = [fallbackHook, sweepHook];

export const webhooksModule = defineModule<WebhooksContext>({
  id: 'webhooks',
  title: 'Event webhooks',
  routes: [eventsRoute],
  pages: [webhooksPage, endpointPage],
  commands: [webhookCommands, queueCommands, eventCommands],
  migrations: webhookMigrations,
  register: ({ host, webhooks }) => {
    registerWebhooks(host, webhooks);
    host.site.addPage(cataloguePage({ host, webhooks }));
  },
});
