import type { HostApi } from '#plugin-api';
import { serviceNamespace } from '../kit/route.ts';
import { openApiWebhooks, signatureScheme } from './openapi.ts';
import type { WebhookService } from './create-webhooks.ts';
import { replayJob } from './migrations.ts';
import type { ReplayArgs } from './replay.ts';

/** Drains the queue even if no worker runs (contract 8). */
const fallbackSchedule = '*/5 * * * *';
const fallbackHook = 'svc_webhooks_fallback';
const sweepHook = 'svc_webhooks_sweep';

/** Registers the actions, cron hooks and worker of event webhooks. */
export async function registerWebhooks(host: HostApi, webhooks: WebhookService): Promise<void> {
  const { hooks, cron, jobs, log, site } = host;
  let isWorking = false;

  async function start(): Promise<void> {
    await cron.schedule(fallbackSchedule, fallbackHook);
    // Web nodes leave the queue to worker nodes.
    if (site.role === 'web' || isWorking) return;
    isWorking = true;
    await webhooks.start();
  }
  let starting: Promise<void> = Promise.resolve();
  const startOrLog = (): Promise<void> =>
    (starting = start().catch((error: unknown) =>
      log.error('Failed to start the webhook worker; cron works the queue every five minutes', {
        event: 'webhook_worker_start_failed',
        error,
      }),
    ));

  hooks.addAction('svc_event_emit', async (name, data, context) => {
    await webhooks.emit(name, data, context);
  });
  hooks.addAction(fallbackHook, () => webhooks.fallback());
  hooks.addFilter('cron_event_labels', (labels) => ({
    ...labels,
    [fallbackHook]: {
      label: 'Send waiting webhooks',
      help: 'Works the queue of deliveries where no worker is running.',
    },
  }));
  hooks.addAction('host_started', startOrLog);
  // The catalogue names what is wrong with the events of a plugin as soon as it has added them, not when one is needed.
  const checkEvents = (): void => {
    if (hooks.hasFilter('svc_event_schemas') !== false) webhooks.catalogue.list();
  };
  hooks.addAction('plugins_loaded', checkEvents);
  hooks.addAction('activated_plugin', checkEvents);
  // eslint-disable-next-line max-params -- the arguments of the hook
  hooks.addFilter('svc_personal_data_erase', async (counts, person, { userId, conversations }, receipt) => {
    const erased = await webhooks.erasePerson({
      userId,
      sessionId: 'sessionId' in person ? person.sessionId : null,
      email: 'email' in person ? person.email : null,
      conversations,
    });
    receipt.add('deliveries', erased.sent);
    return { ...counts, webhook_events: erased.events, cancelled_deliveries: erased.cancelled };
  });
  hooks.addFilter('rest_openapi', (document, namespace) =>
    namespace === serviceNamespace || namespace === ''
      ? {
          ...document,
          webhooks: openApiWebhooks(webhooks.catalogue),
          components: {
            ...document.components,
            securitySchemes: { ...document.components['securitySchemes'], ...signatureScheme },
          },
        }
      : document,
  );
  // A worker that is still starting would need the host after the plugin has left it.
  host.onStop(async () => {
    await starting;
    await webhooks.stop();
  });
  // The plugin was activated while the host was running.
  if (hooks.didAction('host_started') > 0) void startOrLog();
  defineReplays(host, webhooks);
  await jobs.every('hourly', {
    name: sweepHook,
    label: 'Delete old webhook deliveries',
    timeout: 3_600,
    run: async () => ({ deleted: await webhooks.sweep() }),
  });
}

/** Defines the job that replays deliveries. */
export function defineReplays({ jobs }: Pick<HostApi, 'jobs'>, webhooks: WebhookService): void {
  jobs.define<ReplayArgs>({
    name: replayJob,
    label: 'Replay webhook deliveries',
    concurrency: 16,
    attempts: () => Infinity,
    timeout: 86_400,
    // The page of deliveries lists the latest.
    keep: 30 * 86_400,
    run: (args, job) => webhooks.runReplay(args, job),
  });
}

export { fallbackHook, sweepHook };
