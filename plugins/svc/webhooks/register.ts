import type { HostApi } from '#plugin-api';
import { serviceNamespace } from '../kit/route.ts';
import { openApiWebhooks } from './openapi.ts';
import type { WebhookService } from './create-webhooks.ts';

/** Alone enough to drain the queue (contract 8). */
const fallbackSchedule = '*/5 * * * *';
const fallbackHook = 'svc_webhooks_fallback';
const sweepHook = 'svc_webhooks_sweep';

/** Actions, cron and the worker: all that event webhooks do by themselves. */
export function registerWebhooks(host: HostApi, webhooks: WebhookService): void {
  const { hooks, cron, log, site } = host;
  let isWorking = false;

  async function begin(): Promise<void> {
    await cron.schedule(fallbackSchedule, fallbackHook);
    await cron.schedule('hourly', sweepHook);
    // A node that serves the web leaves the queue to the workers.
    if (site.role === 'web' || isWorking) return;
    isWorking = true;
    await webhooks.start();
  }
  const beginSafely = (): Promise<void> =>
    begin().catch((error: unknown) =>
      log.error('The webhook queue is not worked on this node; cron still does so every five minutes.', { error }),
    );

  hooks.addAction('svc_event_emit', async (name, data, context) => {
    await webhooks.emit(name, data, context);
  });
  hooks.addAction(fallbackHook, () => webhooks.fallback());
  hooks.addAction(sweepHook, () => webhooks.sweep());
  hooks.addAction('host_started', beginSafely);
  hooks.addFilter('rest_openapi', (document, namespace) =>
    namespace === serviceNamespace ? { ...document, webhooks: openApiWebhooks(webhooks.catalogue) } : document,
  );
  host.onStop(() => webhooks.stop());
  // Switched on while the host runs already.
  if (hooks.didAction('host_started') > 0) void beginSafely();
}

export { fallbackHook, sweepHook };
