import type { HostApi } from '#plugin-api';
import { defineModule, type ModuleContext } from '../kit/module.ts';
import type { WebhookService } from './create-webhooks.ts';
import { eventsRoute } from './events.route.ts';
import { webhookMigrations } from './migrations.ts';
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
  migrations: webhookMigrations,
  register: ({ host, webhooks }) => { registerWebhooks(host, webhooks); },
});
