import { formatCount, formatDuration, formatWait } from '#plugin-api';
import type { Delivery } from '../delivery.ts';
import type { Circuit, Endpoint } from '../endpoint.ts';
import { adviceFor } from './delivery-labels.ts';
import { isInternal } from './endpoint-save.ts';
import { webhookTabs } from './pages-context.ts';
import { cataloguePath, webhooksSlug, type WebhookPagesContext } from './pages-context.ts';

/** A rejected form with its errors. Secrets are not shown again. */
export interface RejectedSettings {
  readonly errors: Readonly<Record<string, string>>;
  readonly days?: string;
}

/** Latest deliveries that are searched for the last one of each endpoint: a single query however large the log is. */
const recentDeliveries = 200;

/** The data of `svc/webhooks`. Contains no secret, only how it ends (D3). */
export async function settingsView(
  { host, webhooks }: WebhookPagesContext,
  rejected: RejectedSettings = { errors: {} },
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
    tabs: webhookTabs(host, webhooksSlug),
    enabled: settings.enabled,
    secret: {
      masked: settings.secret,
      left: settings.previousSecretUntil === null ? null : formatWait(settings.previousSecretUntil - host.clock.now()),
      until: settings.previousSecretUntil,
      error: rejected.errors['secret'],
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
      error: delivery.error ?? 'The delivery failed.',
      advice: adviceFor(delivery),
      endpointId: known.has(delivery.endpointId) ? delivery.endpointId : null,
      fields: { id: delivery.id, attempts: delivery.attempts },
    })),
    days: rejected.days ?? settings.deliveredDays,
    daysError: rejected.errors['deliveredDays'],
    catalogueUrl: `/${cataloguePath}`,
    inboxUrl: host.admin.url('svc/deliveries/inbox'),
    deliveryUrl: host.admin.url('svc/deliveries/delivery'),
  };
}

function endpointRow(
  { id, name, url, enabled, events, secret, held }: Endpoint,
  circuit: Circuit | undefined,
): Record<string, unknown> {
  const paused = pausedView(circuit);
  const badge =
    held !== null && enabled
      ? { text: 'Held', kind: 'error' }
      : paused !== null && enabled
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
    held: enabled ? held : null,
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

/** The result of the latest delivery to an endpoint. */
function lastDelivery(delivery: Delivery | undefined): Record<string, unknown> | null {
  if (delivery === undefined) return null;
  const { id, state, httpStatus, duration, error, event, attempts } = delivery;
  const at = delivery.finishedAt ?? delivery.createdAt;
  if (state === 'delivered')
    return { kind: 'success', id, at, event, text: `${String(httpStatus)} in ${formatDuration(duration)}` };
  if (state === 'failed') return { kind: 'error', id, at, event, text: error ?? 'Failed' };
  return {
    kind: 'clock',
    id,
    at,
    event,
    text: attempts === 0 ? 'pending' : `pending after ${formatCount(attempts, 'attempt')}`,
  };
}
