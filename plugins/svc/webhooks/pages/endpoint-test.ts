import { randomUUID } from 'node:crypto';
import { formatCount, formatDuration, restError } from '#plugin-api';
import type { Condition, DeliveryDetail } from '../delivery.ts';
import { testOrigin, type EventContext } from '../event.ts';
import { adviceFor } from './delivery-labels.ts';
import type { WebhookPagesContext } from './pages-context.ts';

export interface TestResult {
  readonly delivered: boolean;
  /** The result, and what to do if it failed. */
  readonly message: string;
  readonly event: string;
  /** null: nothing was sent. */
  readonly delivery: DeliveryDetail | null;
}

const blockedReasons: Partial<Record<Condition['id'], string>> = {
  switch: 'Event webhooks are off. Turn them on first.',
  enabled: 'This endpoint is off. Turn it on first.',
  url: 'This endpoint has no URL. Edit the endpoint and enter one.',
};

/** Runs after every other filter, so that none adds a target later. */
const last = Number.MAX_SAFE_INTEGER;

/**
 * Sends the example of an event to one endpoint, signed, logged and retried like any other event. `meta.test` is true and
 * the idempotency key is new each time. Conditions that stop real events (contract 6.1) stop the test and are reported.
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
    throw restError(404, 'rest_svc_webhook_not_found', `There is no webhook endpoint with the id ${endpointId}.`);
  const name = event ?? endpoint.events.find((candidate) => webhooks.catalogue.find(candidate)) ?? '';
  const refuse = (why: string): TestResult => ({
    delivered: false,
    message: `Not sent: ${why}`,
    event: name,
    delivery: null,
  });
  const definition = webhooks.catalogue.find(name);
  if (!definition)
    return refuse(
      name === ''
        ? 'This endpoint is subscribed to no event. Edit the endpoint and select some.'
        : `There is no event named ${name}.`,
    );
  const unmet = (await webhooks.deliveryLog.checkEligibility(name, endpointId)).filter(({ met }) => !met);
  const reasons = unmet.flatMap(
    ({ id, hint }) =>
      (id === 'secret' ? hint : blockedReasons[id]) ??
      (id === 'subscribed' ? [`This endpoint is not subscribed to ${name}.`] : []),
  );
  if (reasons.length > 0) return refuse(reasons.join(' '));

  const context: EventContext = { origin: testOrigin, key: [randomUUID()], meta: { test: true } };
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
    if (delivery === null) return refuse('A plugin removed this endpoint with the filter svc_event_webhooks_targets.');
    return { delivered: delivery.state === 'delivered', message: outcomeOf(delivery), event: name, delivery };
  } finally {
    undo();
  }
}

function outcomeOf(delivery: DeliveryDetail): string {
  const { state, httpStatus, duration, attempts, error, event } = delivery;
  if (state === 'delivered')
    return (
      `Delivered ${event}: the receiver responded with ${String(httpStatus)} in ${formatDuration(duration)}` +
      (attempts > 1 ? ` on attempt ${String(attempts)}.` : '.')
    );
  const tried = `after ${formatCount(attempts, 'attempt')}`;
  if (state === 'failed') return `Failed ${tried}: ${error ?? ''} ${adviceFor(delivery)}`.trim();
  return error === null
    ? `${event} is pending in the queue.`
    : `Not delivered yet, ${tried}: ${error} It will be retried.`;
}
