import { formatCount, type AdminHome, type HomeAlert, type HomeHealth } from '#plugin-api';
import type { Webhooks } from './webhooks.ts';

const deliveriesSlug = 'svc/deliveries';
/** More failed deliveries are shown as "100 or more". */
const most = 100;

/** Adds failed deliveries and the state of each endpoint to the home page. */
export async function addWebhooksHome(webhooks: Webhooks, home: AdminHome): Promise<AdminHome> {
  const [{ enabled, endpoints }, failures, circuits] = await Promise.all([
    webhooks.settings(),
    webhooks.deliveryLog.recentFailures(most),
    webhooks.deliveryLog.circuits(),
  ]);
  if (!enabled || endpoints.length === 0) return home;
  const health = endpoints
    .filter((endpoint) => endpoint.enabled)
    .map((endpoint): HomeHealth => {
      const paused = circuits.find(({ endpointId, pausedAt }) => endpointId === endpoint.id && pausedAt !== null);
      const failed = failures.filter(({ endpointId }) => endpointId === endpoint.id).length;
      return {
        label: endpoint.name || endpoint.url,
        href: `${deliveriesSlug}?endpoint=${encodeURIComponent(endpoint.id)}`,
        ...(paused
          ? { state: 'error', note: 'paused after failures' }
          : endpoint.held !== null
            ? { state: 'error', note: 'deliveries are held' }
            : failed > 0
              ? { state: 'warning', note: `${formatCount(failed, 'failed delivery', 'failed deliveries')}` }
              : { state: 'ok', note: 'webhook endpoint' }),
      };
    });
  const text =
    failures.length >= most
      ? `${String(most)} or more webhook deliveries failed.`
      : `${formatCount(failures.length, 'webhook delivery', 'webhook deliveries')} failed.`;
  const alert: HomeAlert = { kind: 'error', text, href: `${deliveriesSlug}?state=failed`, label: 'Retry' };
  return {
    ...home,
    alerts: failures.length === 0 ? home.alerts : [...home.alerts, alert],
    health: [...home.health, ...health],
  };
}
