import type { Delivery } from '../delivery.ts';
import type { Circuit, Endpoint } from '../endpoint.ts';
import { adviceFor } from './delivery-labels.ts';
import { isInternal } from './endpoint-save.ts';
import { deliveryTabs } from './pages-context.ts';
import { cataloguePath, webhooksSlug, type WebhookPagesContext } from './pages-context.ts';
import { timeLeft } from './settings-time-left.ts';

/** A form that came back: what is wrong with it. Secrets never come back. */
export interface RejectedSettings {
  readonly errors: Readonly<Record<string, string>>;
  readonly days?: string;
}

/** Of so many deliveries, the newest of each endpoint are shown: one query, however many endpoints and deliveries there are. */
const recentDeliveries = 200;

/** The data of `svc/webhooks`. Holds no secret: only what is saved and how it ends (D3). */
export async function settingsView(
  { host, webhooks }: WebhookPagesContext,
  refused: RejectedSettings = { errors: {} },
): Promise<Record<string, unknown>> {
  const { deliveryLog } = webhooks;
  const [settings, circuits, failures, newest] = await Promise.all([
    webhooks.settings(),
    deliveryLog.circuits(),
    deliveryLog.recentFailures(),
    deliveryLog.list({}, { limit: recentDeliveries }),
  ]);
  const known = new Set(settings.endpoints.map(({ id }) => id));
  const last = new Map([...newest.deliveries].reverse().map((delivery) => [delivery.endpointId, delivery]));
  return {
    tabs: deliveryTabs(host, webhooksSlug),
    enabled: settings.enabled,
    secret: {
      masked: settings.secret,
      left: settings.previousSecretUntil === null ? null : timeLeft(settings.previousSecretUntil - host.clock.now()),
      until: settings.previousSecretUntil,
      error: refused.errors['secret'],
    },
    endpoints: await Promise.all(
      settings.endpoints.map(async (endpoint) => ({
        ...endpointRow(
          endpoint,
          circuits.find(({ endpointId, pausedAt }) => endpointId === endpoint.id && pausedAt !== null),
        ),
        internal: await isInternal(host.http, endpoint),
        last: lastDelivery(last.get(endpoint.id)),
      })),
    ),
    failures: failures.map((delivery) => ({
      id: delivery.id,
      event: delivery.event,
      endpointName: delivery.endpointName,
      attempts: delivery.attempts,
      at: delivery.finishedAt ?? delivery.createdAt,
      error: delivery.error ?? 'It failed.',
      advice: adviceFor(delivery),
      endpointId: known.has(delivery.endpointId) ? delivery.endpointId : null,
      fields: { id: delivery.id, attempts: delivery.attempts },
    })),
    days: refused.days ?? settings.deliveredDays,
    daysError: refused.errors['deliveredDays'],
    catalogueUrl: `/${cataloguePath}`,
    inboxUrl: host.admin.url('svc/deliveries/inbox'),
    deliveryUrl: host.admin.url('svc/deliveries/delivery'),
  };
}

function endpointRow(
  { id, name, url, enabled, events, secret }: Endpoint,
  circuit: Circuit | undefined,
): Record<string, unknown> {
  const paused = pausedView(circuit);
  const badge =
    paused !== null && enabled
      ? { text: 'Paused', kind: 'error' }
      : !enabled
        ? { text: 'Off', kind: 'info' }
        : url === ''
          ? { text: 'No URL', kind: 'warning' }
          : events.length === 0
            ? { text: 'No events', kind: 'warning' }
            : { text: 'On', kind: 'success' };
  return {
    id,
    name,
    url,
    enabled,
    paused,
    events: events.length,
    badge,
    hasSecret: secret !== null,
    idFields: { id },
    switchFields: { id, enabled: enabled ? '0' : '1' },
  };
}

function pausedView(circuit: Circuit | undefined): Record<string, unknown> | null {
  return circuit === undefined
    ? null
    : { since: circuit.pausedAt, failures: circuit.failures, reason: circuit.reason, nextProbeAt: circuit.nextProbeAt };
}

/** How the newest delivery to an endpoint went, in a few words. */
function lastDelivery(delivery: Delivery | undefined): Record<string, unknown> | null {
  if (delivery === undefined) return null;
  const { id, state, httpStatus, duration, error, event, attempts } = delivery;
  const at = delivery.finishedAt ?? delivery.createdAt;
  if (state === 'delivered')
    return { kind: 'success', id, at, event, text: `${String(httpStatus)} in ${String(duration)} ms` };
  if (state === 'failed') return { kind: 'error', id, at, event, text: error ?? 'failed' };
  return {
    kind: 'clock',
    id,
    at,
    event,
    text: attempts === 0 ? 'waiting' : `waiting after ${attempts === 1 ? '1 attempt' : `${String(attempts)} attempts`}`,
  };
}
