import type { HostApi } from '#plugin-api';
import { registerRoute } from '../kit/route.ts';
import { defineModule } from '../kit/module.ts';
import { createSecretReader } from '../settings/secret-reader.ts';
import { createHours } from './history/hours.ts';
import { hoursMigration, hoursTable } from './history/hours-table.ts';
import { createInbox } from './inbox/inbox.ts';
import { inboxRoute } from './inbox/inbox.route.ts';
import { inboxMigration, inboxTable } from './inbox/inbox-table.ts';
import type { WebhooksContext } from './module.ts';
import { deliveryPage } from './pages/delivery.page.ts';
import { inboxPage } from './pages/inbox.page.ts';
import { recorderPage } from './pages/recorder.page.ts';
import { whyNotPage } from './pages/why-not.page.ts';
import { createSettingsStore } from './settings-store.ts';
import type { Recorder } from './webhooks.ts';

/** Tables, for uninstalling. */
export const recorderTables: readonly string[] = [hoursTable, inboxTable];

/**
 * The flight recorder: pages of what was sent and why not, the built-in inbox, figures by hour and for Prometheus, and
 * the notice of paused endpoints. Registered before the queue, so that it stops after it and counts all it did.
 */
export const recorderModule = defineModule<WebhooksContext>({
  id: 'webhook-recorder',
  title: 'Deliveries',
  migrations: [hoursMigration, inboxMigration],
  register(context) {
    const { host, webhooks } = context;
    const settings = createSettingsStore({ host, read: createSecretReader({ secrets: host.secrets, log: host.log }), elapsed: () => performance.now() });
    const secretsOf = async (endpointId: string): Promise<readonly string[]> => {
      const snapshot = await settings.current();
      return snapshot.secretsOf(snapshot.byId.get(endpointId));
    };
    const hours = createHours({ host, recorder: webhooks.recorder });
    const recorder = { host, webhooks, hours, inbox: createInbox({ host, webhooks, secretsOf }) };
    for (const page of [recorderPage, deliveryPage, whyNotPage, inboxPage]) host.admin.addPage(page(recorder));
    registerRoute(inboxRoute, { ...context, inbox: recorder.inbox });
    host.metrics.add(() => webhooks.recorder.exposeMetrics());
    addCircuitBadge(host, webhooks.recorder);
    host.hooks.addAction('host_started', () => { hours.start(); });
    host.onStop(() => hours.flush());
  },
});

/** On every admin page while an endpoint is paused: its events wait, and nobody would notice. */
function addCircuitBadge({ admin }: Pick<HostApi, 'admin'>, recorder: Pick<Recorder, 'circuits'>): void {
  admin.addBadge(async () => {
    const paused = (await recorder.circuits()).filter(({ pausedAt }) => pausedAt !== null);
    const [first] = paused;
    if (first === undefined) return null;
    return {
      text: paused.length === 1 ? 'WEBHOOK PAUSED' : `${String(paused.length)} WEBHOOKS PAUSED`,
      kind: 'warning',
      href: `${admin.url('svc/deliveries')}#paused`,
      title: `An endpoint of event webhooks is paused, its events wait. ${first.reason} Click to see what to do.`,
    };
  });
}
