import type { Attempt, DeliveryDetail } from '../delivery.ts';
import { curlAsSent, curlSigned } from './delivery-curl.ts';
import { verdicts } from './delivery-verify.ts';
import { describeFailure, stateBadge } from './delivery-labels.ts';
import type { DeliveryPagesContext } from './pages-context.ts';
import { cataloguePath } from './pages-context.ts';

/** Characters of a body that the page shows; the curl command holds all. */
const maxShown = 200_000;

/** The data of `svc/webhook-delivery`. */
export async function deliveryView(
  { host, webhooks }: DeliveryPagesContext,
  delivery: DeliveryDetail,
  { raw }: { readonly raw: boolean },
): Promise<Record<string, unknown>> {
  const { body, attemptLog, id, state } = delivery;
  const { endpoints } = await webhooks.settings();
  const endpoint = endpoints.find((known) => known.id === delivery.endpointId);
  const last = attemptLog.at(-1);
  const circuit = (await webhooks.deliveryLog.circuits()).find(
    ({ endpointId, pausedAt }) => endpointId === delivery.endpointId && pausedAt !== null,
  );
  const pretty = prettyJson(body);
  const list = host.admin.url('svc/deliveries');
  const checked = { event: delivery.event, endpoint: delivery.endpointId };
  const here = `?id=${encodeURIComponent(id)}`;
  return {
    delivery,
    badge: stateBadge(delivery),
    isFinished: state === 'delivered' || state === 'failed',
    isFailed: state === 'failed',
    mayRepeat: delivery.bodyDeleted === null,
    bodyNote: bodyNote(delivery),
    isWaiting: state === 'pending',
    fields: { id },
    url: last?.url ?? endpoint?.url ?? '',
    endpointHref:
      endpoint === undefined
        ? null
        : `${host.admin.url('svc/webhooks')}/endpoint?id=${encodeURIComponent(endpoint.id)}`,
    sameEndpoint: `${list}?endpoint=${encodeURIComponent(delivery.endpointId)}`,
    sameEvent: `${list}?event=${encodeURIComponent(delivery.event)}`,
    check: `${host.admin.url('svc/deliveries/check')}?${String(new URLSearchParams(checked))}`,
    catalogue: `${host.site.url}/${cataloguePath}#${delivery.event.replaceAll(/[^a-z0-9]+/g, '-')}`,
    paused: circuit ?? null,
    failure:
      state === 'failed'
        ? describeFailure({ failure: delivery.failure, error: delivery.error, status: delivery.httpStatus })
        : null,
    size: Buffer.byteLength(body),
    views: [
      { label: 'Pretty', href: `${here}#body`, current: !raw || pretty === null },
      { label: 'Raw bytes', href: `${here}&view=raw#body`, current: raw || pretty === null },
    ],
    shownBody: (raw || pretty === null ? body : pretty).slice(0, maxShown),
    isCut: body.length > maxShown,
    attempts: attemptLog.map((attempt) => attemptView(attempt)).reverse(),
    lastAttempt: last === undefined || delivery.bodyDeleted !== null ? null : attemptView(last),
    ...(last &&
      delivery.bodyDeleted === null && {
        curl: curlCommands(last, body),
        base: signedText(last, body),
        verify: verifyForm(attemptLog, body),
      }),
  };
}

/** What privacy does to the body; empty if it is stored like any other. */
function bodyNote({ bodyDeleted, isTemporary }: DeliveryDetail): string {
  if (bodyDeleted === 'erased') return 'The body was deleted with the data of a person. It cannot be sent again.';
  if (bodyDeleted === 'not_kept')
    return 'The body was deleted after the last attempt, because the chatbot or form does not store texts. It cannot be sent again.';
  return isTemporary
    ? 'The body is deleted after the last attempt, because the chatbot or form does not store texts.'
    : '';
}

function attemptView(attempt: Attempt) {
  return {
    ...attempt,
    badge:
      attempt.failure === null
        ? { text: `${String(attempt.status ?? '')} Delivered`, kind: 'success' }
        : { text: attempt.status === null ? 'No response' : `HTTP ${String(attempt.status)}`, kind: 'error' },
    failed: describeFailure(attempt),
    headers: Object.entries(attempt.requestHeaders).map(([name, value]) => ({ name, value })),
    response: Object.entries(attempt.responseHeaders).map(([name, value]) => ({ name, value })),
    signature: attempt.requestHeaders['X-SVC-Signature'] ?? '',
    hasMasked: Object.values(attempt.requestHeaders).includes('[redacted]'),
    wait: attempt.nextTryAt === null ? null : attempt.nextTryAt - attempt.startedAt - attempt.duration,
  };
}

function curlCommands({ url, requestHeaders: headers }: Attempt, body: string) {
  return { asSent: curlAsSent({ url, headers, body }), signed: curlSigned({ url, headers, body }) };
}

/** Contract 6.6. */
function signedText({ timestamp }: Attempt, body: string): string {
  return `${timestamp}.${body}`;
}

/** Data for the script that verifies, as JSON in an attribute, so that HTML changes no byte. */
function verifyForm(attempts: readonly Attempt[], body: string) {
  return {
    body,
    attempts: attempts.map(({ number, timestamp, requestHeaders }) => ({
      number,
      timestamp,
      signature: requestHeaders['X-SVC-Signature'] ?? '',
    })),
    verdicts,
    options: attempts.map(({ number }) => ({ value: String(number), label: `Attempt ${String(number)}` })).reverse(),
    last: String(attempts.at(-1)?.number ?? ''),
    hasMany: attempts.length > 1,
  };
}

/** JSON with indentation; null for another text. */
export function prettyJson(text: string): string | null {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return null;
  }
}
