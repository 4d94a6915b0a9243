import { randomUUID } from 'node:crypto';
import { RestError } from '#plugin-api';
import type { Condition, DeliveryDetail } from '../delivery.ts';
import type { EventContext } from '../event.ts';
import { adviceFor } from './delivery-labels.ts';
import type { WebhookPagesContext } from './pages-context.ts';

export interface TestResult {
  readonly delivered: boolean;
  /** What came of it, and what to do where it failed. */
  readonly sentence: string;
  readonly event: string;
  /** null: nothing was sent. */
  readonly delivery: DeliveryDetail | null;
}

const blockedReasons: Partial<Record<Condition['id'], string>> = {
  switch: 'Event webhooks are off. Switch them on first.',
  enabled: 'This endpoint is off. Switch it on first.',
  url: 'This endpoint has no URL. Edit it and enter one.',
};

/** Later than every other filter, so that nothing adds a target after it. */
const last = Number.MAX_SAFE_INTEGER;

/**
 * Sends an event's example to one endpoint, signed, recorded and tried again like any other; `meta.test` is true in it, and
 * its idempotency key is new each time. What keeps real events from it (contract 6.1) keeps the test from it too, and is told.
 *
 * @param event default: the first that the endpoint is subscribed to.
 * @throws RestError 404 when there is no such endpoint.
 */
export async function sendTest(
  { host, webhooks }: WebhookPagesContext,
  endpointId: string,
  event?: string,
): Promise<TestResult> {
  const endpoint = (await webhooks.settings()).endpoints.find(({ id }) => id === endpointId);
  if (!endpoint)
    throw new RestError({
      code: 'rest_svc_webhook_not_found',
      message: `There is no webhook endpoint with the id ${endpointId}.`,
      status: 404,
    });
  const name = event ?? endpoint.events.find((candidate) => webhooks.catalogue.find(candidate)) ?? '';
  const refuse = (why: string): TestResult => ({
    delivered: false,
    sentence: `Not sent: ${why}`,
    event: name,
    delivery: null,
  });
  const definition = webhooks.catalogue.find(name);
  if (!definition)
    return refuse(
      name === ''
        ? 'This endpoint is subscribed to no event. Edit it and choose some.'
        : `There is no event named ${name}.`,
    );
  const unmet = (await webhooks.deliveryLog.checkEligibility(name, endpointId)).filter(({ met }) => !met);
  const reasons = unmet.flatMap(
    ({ id }) => blockedReasons[id] ?? (id === 'subscribed' ? [`This endpoint is not subscribed to ${name}.`] : []),
  );
  if (reasons.length > 0) return refuse(reasons.join(' '));

  const context: EventContext = { origin: 'admin_test', key: [randomUUID()], meta: { test: true } };
  const undo = host.hooks.addFilter(
    'svc_event_webhooks_targets',
    (targets, ...[, , given]) => (given === context ? targets.filter(({ id }) => id === endpointId) : targets),
    last,
  );
  try {
    const result = await webhooks.emit(name, definition.example, context);
    if (result.error !== null) return refuse(result.error);
    const [id] = result.deliveries;
    const delivery = id === undefined ? null : await webhooks.deliveryLog.get(id);
    if (delivery === null)
      return refuse('A plugin left this endpoint out, with the filter svc_event_webhooks_targets.');
    return { delivered: delivery.state === 'delivered', sentence: outcomeOf(delivery), event: name, delivery };
  } finally {
    undo();
  }
}

function outcomeOf(delivery: DeliveryDetail): string {
  const { state, httpStatus, duration, attempts, error, event } = delivery;
  if (state === 'delivered')
    return `Delivered ${event}: the receiver answered ${String(httpStatus)} in ${String(duration)} ms${attempts > 1 ? `, at attempt ${String(attempts)}` : ''}.`;
  const tried = attempts === 1 ? 'after 1 attempt' : `after ${String(attempts)} attempts`;
  if (state === 'failed') return `Failed ${tried}: ${error ?? ''} ${adviceFor(delivery)}`.trim();
  return error === null ? `${event} waits in the queue.` : `Not delivered yet, ${tried}: ${error} It is tried again.`;
}
