import { formatCount, type AdminHome, type HomeAlert, type HomeHealth } from '#plugin-api';
import type { Webhooks } from './webhooks.ts';

const deliveriesSlug = 'svc/deliveries';
/** More failed deliveries are shown as "100 or more". */
const most = 100;

/** Adds the state of each endpoint to the home page. */
export async function addWebhooksHome(webhooks: Webhooks, home: AdminHome): Promise<AdminHome> {
  const [{ enabled, endpoints }, failures, circuits] = await Promise.all([
    webhooks.settings(),
    webhooks.deliveryLog.recentFailures(most),
    webhooks.deliveryLog.circuits(),
  ]);
  if (!enabled || endpoints.length === 0) return home;
  const enabledEndpoints = endpoints.filter((endpoint) => endpoint.enabled);
  const used = await Promise.all(
    enabledEndpoints.map(async ({ id }) => {
      const { deliveries } = await webhooks.deliveryLog.list({ endpointId: id, state: 'delivered' }, { limit: 1 });
      return deliveries.length > 0;
    }),
  );
  const health = enabledEndpoints.map((endpoint, index): HomeHealth => {
    const paused = circuits.find(({ endpointId, pausedAt }) => endpointId === endpoint.id && pausedAt !== null);
    const failed = failures.filter(({ endpointId }) => endpointId === endpoint.id).length;
    return {
      label: endpoint.name || endpoint.url,
      href: `${deliveriesSlug}?endpoint=${encodeURIComponent(endpoint.id)}`,
      ...(paused
        ? paused.nextProbeAt === null
          ? { state: 'error', note: 'paused: it is gone (410)' }
          : { state: 'error', note: 'paused after failures' }
        : endpoint.held !== null
          ? { state: 'error', note: 'deliveries are held' }
          : endpoint.events.length === 0
            ? { state: 'warning', note: 'receives nothing: no event is selected' }
            : failed > 0
              ? { state: 'warning', note: `${formatCount(failed, 'failed delivery', 'failed deliveries')}` }
              : used[index] === true
                ? { state: 'ok', note: 'webhook endpoint' }
                : { state: 'unknown', note: 'no delivery yet' }),
    };
  });
  return { ...home, health: [...home.health, ...health] };
}

/** Adds an alert about failed deliveries. */
export async function addDeliveryAlerts(
  webhooks: Webhooks,
  alerts: readonly HomeAlert[],
): Promise<readonly HomeAlert[]> {
  const [{ enabled, endpoints }, failures] = await Promise.all([
    webhooks.settings(),
    webhooks.deliveryLog.recentFailures(most),
  ]);
  if (!enabled || endpoints.length === 0 || failures.length === 0) return alerts;
  const text =
    failures.length >= most
      ? `${String(most)} or more webhook deliveries failed.`
      : `${formatCount(failures.length, 'webhook delivery', 'webhook deliveries')} failed.`;
  return [...alerts, { kind: 'error', text, href: `${deliveriesSlug}?state=failed`, label: 'Retry' }];
}
