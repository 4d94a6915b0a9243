import type { HostApi } from '#plugin-api';
import { lazyPages } from '../kit/lazy.ts';
import { defineModule } from '../kit/module.ts';
import { createSecretReader } from '../settings/secret-reader.ts';
import { createHourlyCounts } from './hourly-counts.ts';
import { hoursMigration, hoursTable } from './hourly-counts.ts';
import { createInbox } from './inbox/inbox.ts';
import { inboxRoute } from './inbox/inbox.route.ts';
import { inboxMigration, inboxResponseMigration, inboxTable } from './inbox/inbox.ts';
import type { WebhooksPorts } from './module.ts';
import type { DeliveryPagesContext } from './pages/pages-context.ts';
import { createSettingsStore } from './settings-store.ts';
import type { DeliveryLog, Webhooks } from './webhooks.ts';

/**
 * The delivery log: pages about deliveries, the test inbox, hourly and Prometheus figures, and the badge for paused
 * endpoints. Registered before the queue, so that it stops after the queue and counts all its deliveries.
 */
export const deliveryLogModule = defineModule<WebhooksPorts, DeliveryPagesContext>({
  create(ports) {
    const { host, webhooks } = ports;
    const settings = createSettingsStore({
      host,
      read: createSecretReader({ secrets: host.secrets, log: host.log }),
      elapsed: () => performance.now(),
    });
    const secretsFor = async (endpointId: string): Promise<readonly string[]> => {
      const snapshot = await settings.current();
      return snapshot.secretsFor(snapshot.byId.get(endpointId));
    };
    return {
      ...ports,
      hours: createHourlyCounts({ host, deliveryLog: webhooks.deliveryLog }),
      inbox: createInbox({ host, webhooks, secretsFor }),
    };
  },
  migrations: [hoursMigration, inboxMigration, inboxResponseMigration],
  tables: [hoursTable, inboxTable],
  routes: [inboxRoute],
  pages: lazyPages<DeliveryPagesContext>({
    slug: 'svc/deliveries',
    title: 'Deliveries',
    group: 'developers',
    icon: 'truck',
    position: 27,
    script: 'deliveries.js',
    style: 'deliveries.css',
    body: () => import('./pages/delivery-log.page.ts'),
    subpages: [
      {
        slug: 'svc/deliveries/delivery',
        title: 'Delivery',
        script: 'deliveries.js',
        body: () => import('./pages/delivery.page.ts'),
      },
      // The second slug is the former one, which may be bookmarked.
      ...['svc/deliveries/check', 'svc/deliveries/why-not'].map((slug) => ({
        slug,
        title: 'Delivery check',
        parent: 'svc/webhooks',
        body: () => import('./pages/delivery-check.page.ts'),
      })),
      {
        slug: 'svc/deliveries/inbox',
        title: 'Inbox',
        parent: 'svc/webhooks',
        script: 'deliveries.js',
        body: () => import('./pages/inbox.page.ts'),
      },
    ],
  }),
  register({ host, webhooks, hours }) {
    const { deliveryLog } = webhooks;
    host.metrics.add(async () => (await import('./metrics.ts')).toMetrics(await deliveryLog.metrics()));
    addPausedBadge(host, deliveryLog);
    addHeldBadge(host, webhooks);
    host.hooks.addFilter('admin_home', async (home, { user }) =>
      user.can('manage_options') ? (await import('./home.ts')).addWebhooksHome(webhooks, home) : home,
    );
    host.hooks.addFilter('admin_alerts', async (alerts, user) =>
      user.can('manage_options') ? (await import('./home.ts')).addDeliveryAlerts(webhooks, alerts) : alerts,
    );
    host.hooks.addFilter('admin_next_steps', async (steps) => [
      ...steps,
      {
        text: 'Send events to a webhook.',
        href: 'svc/webhooks',
        done: (await webhooks.settings()).endpoints.length > 0,
      },
    ]);
    host.hooks.addAction('host_started', () => {
      hours.start();
    });
    host.onStop(async () => {
      if (webhooks.hasStarted()) await hours.flush();
    });
  },
});

/** Shows a badge on every admin page while an endpoint is paused. */
function addPausedBadge({ admin }: Pick<HostApi, 'admin'>, deliveryLog: Pick<DeliveryLog, 'circuits'>): void {
  admin.addBadge(async () => {
    const paused = (await deliveryLog.circuits()).filter(({ pausedAt }) => pausedAt !== null);
    const [first] = paused;
    if (first === undefined) return null;
    return {
      text: paused.length === 1 ? 'WEBHOOK PAUSED' : `${String(paused.length)} WEBHOOKS PAUSED`,
      kind: 'warning',
      href: `${admin.url('svc/deliveries')}#paused`,
      title: `Deliveries to a webhook endpoint are paused. ${first.reason} Select to see what to do.`,
    };
  });
}

/** Shows a badge on every admin page while deliveries are held. */
function addHeldBadge({ admin }: Pick<HostApi, 'admin'>, webhooks: Pick<Webhooks, 'settings'>): void {
  admin.addBadge(async () => {
    const { enabled, endpoints } = await webhooks.settings();
    const held = endpoints.filter((endpoint) => enabled && endpoint.enabled && endpoint.held !== null);
    const [first] = held;
    if (first === undefined) return null;
    return {
      text: held.length === 1 ? 'WEBHOOK HELD' : `${String(held.length)} WEBHOOKS HELD`,
      kind: 'warning',
      href: admin.url('svc/webhooks'),
      title: `Deliveries to a webhook endpoint are held. ${first.held ?? ''}`,
    };
  });
}
