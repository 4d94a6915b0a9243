import type { HostApi, LazyAdminPage } from '#plugin-api';
import { lazyPage } from '../kit/lazy.ts';
import { registerRoute } from '../kit/route.ts';
import { defineModule } from '../kit/module.ts';
import { createSecretReader } from '../settings/secret-reader.ts';
import { createHours } from './history/hours.ts';
import { hoursMigration, hoursTable } from './history/hours-table.ts';
import { createInbox } from './inbox/inbox.ts';
import { inboxRoute } from './inbox/inbox.route.ts';
import { inboxMigration, inboxTable } from './inbox/inbox-table.ts';
import type { WebhooksContext } from './module.ts';
import type { RecorderContext } from './pages/recorder-context.ts';
import { createSettingsStore } from './settings-store.ts';
import type { Recorder } from './webhooks.ts';

/** Tables, for uninstalling. */
export const recorderTables: readonly string[] = [hoursTable, inboxTable];

const pages: readonly ((context: RecorderContext) => LazyAdminPage)[] = [
  lazyPage({
    slug: 'svc/deliveries',
    title: 'Deliveries',
    menu: 'Deliveries',
    parent: 'svc',
    icon: 'list',
    position: 27,
    script: 'recorder.js',
    style: 'recorder.css',
    body: async () => (await import('./pages/recorder.page.ts')).recorderPage,
  }),
  lazyPage({
    slug: 'svc/deliveries/delivery',
    title: 'Delivery',
    parent: 'svc',
    script: 'recorder.js',
    style: 'recorder.css',
    body: async () => (await import('./pages/delivery.page.ts')).deliveryPage,
  }),
  lazyPage({
    slug: 'svc/deliveries/why-not',
    title: 'Why was it not sent?',
    parent: 'svc',
    style: 'recorder.css',
    body: async () => (await import('./pages/why-not.page.ts')).whyNotPage,
  }),
  lazyPage({
    slug: 'svc/deliveries/inbox',
    title: 'Inbox',
    parent: 'svc',
    script: 'recorder.js',
    style: 'recorder.css',
    body: async () => (await import('./pages/inbox.page.ts')).inboxPage,
  }),
];

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
    const settings = createSettingsStore({
      host,
      read: createSecretReader({ secrets: host.secrets, log: host.log }),
      elapsed: () => performance.now(),
    });
    const secretsOf = async (endpointId: string): Promise<readonly string[]> => {
      const snapshot = await settings.current();
      return snapshot.secretsOf(snapshot.byId.get(endpointId));
    };
    const hours = createHours({ host, recorder: webhooks.recorder });
    const recorder = { host, webhooks, hours, inbox: createInbox({ host, webhooks, secretsOf }) };
    for (const page of pages) host.admin.addPage(page(recorder));
    registerRoute(inboxRoute, { ...context, inbox: recorder.inbox });
    host.metrics.add(() => webhooks.recorder.exposeMetrics());
    addCircuitBadge(host, webhooks.recorder);
    host.hooks.addAction('host_started', () => {
      hours.start();
    });
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
