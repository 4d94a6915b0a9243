import type { Attempt, Delivery, DeliveryFailure, DeliveryState } from '../delivery.ts';

const byFailure: Readonly<Record<string, string>> = {
  dns: 'Check the spelling of the host name and that this server can resolve it.',
  connect: 'Check host and port: no server is listening, or a firewall blocks the connection.',
  tls: 'Renew or fix the certificate of the receiver: it must be valid for this host name.',
  timeout: 'The receiver must respond within 5 seconds: store the event, respond with 2xx, then process it.',
  guard: 'If the receiver is in your own network, turn on “Allow private addresses” in the endpoint.',
  redirect: 'Enter the URL that the redirects lead to.',
  reset: 'The receiver closed the connection early; check its log.',
  answer: 'The server does not speak HTTP; check the port, and http or https.',
  filter: 'Check the log of this site and report the error to the author of the plugin.',
  stopped: 'Turn on event webhooks and the endpoint, then retry.',
  aborted: 'The site was shutting down; retry.',
  body_deleted: 'It cannot be sent again. Its record stays in the log.',
};

const byStatus: Readonly<Record<number, string>> = {
  401: 'The receiver requires credentials: add its custom header, or check the signing secret on both sides.',
  403: 'The receiver refuses access: check the custom header, the signing secret on both sides and its list of allowed callers.',
  404: 'The URL does not exist at the receiver; check the path.',
  405: 'The receiver does not accept POST at this URL; check the path.',
  410: 'The receiver no longer uses this URL; enter the new one.',
  413: 'The event is larger than the receiver allows; raise its limit.',
  415: 'The receiver must accept Content-Type: application/json.',
  429: 'The receiver limits the rate of events; retry later.',
};

/** What to do about a failed delivery: one sentence or none. */
export function adviceFor({ failure, httpStatus }: Pick<Delivery, 'failure' | 'httpStatus'>): string {
  if (failure !== 'status' || httpStatus === null) return byFailure[failure ?? ''] ?? '';
  return (
    byStatus[httpStatus] ??
    (httpStatus >= 500
      ? 'The receiver failed; check its log.'
      : 'The receiver refuses this event; see its response in the delivery log.')
  );
}

type Badge = { readonly text: string; readonly kind: 'success' | 'warning' | 'error' | 'info' };

const badges: Readonly<Record<DeliveryState, Badge>> = {
  pending: { text: 'Pending', kind: 'info' },
  delivering: { text: 'In flight', kind: 'info' },
  delivered: { text: 'Delivered', kind: 'success' },
  failed: { text: 'Failed', kind: 'error' },
};

/** Distinguishes a delivery that waits for a retry, or because it cannot be signed, from one without attempts. */
export function stateBadge({ state, attempts, held }: Pick<Delivery, 'state' | 'attempts' | 'held'>): Badge {
  if (held !== null) return { text: 'Held', kind: 'error' };
  return state === 'pending' && attempts > 0 ? { text: 'Retrying', kind: 'warning' } : badges[state];
}

const reasons: Readonly<Record<Exclude<DeliveryFailure, 'status'>, string>> = {
  dns: 'The host name could not be resolved.',
  connect: 'The connection failed.',
  tls: 'The secure connection failed.',
  timeout: 'The endpoint did not respond in time.',
  guard: 'The address is blocked.',
  redirect: 'The endpoint sent a redirect that is not followed.',
  reset: 'The connection closed before a response arrived.',
  answer: 'The response is not valid HTTP.',
  filter: "A plugin's filter failed.",
  aborted: 'The attempt was aborted because the service stopped.',
  body_deleted: 'Not sent: the body was deleted for privacy.',
  stopped: 'Not sent: the endpoint or event webhooks were turned off.',
};

/** Why an attempt failed and what to do about it; null if it succeeded. */
export function describeFailure({ failure, error, status }: Pick<Attempt, 'failure' | 'error' | 'status'>): {
  readonly reason: string;
  readonly detail: string;
  readonly advice: string;
} | null {
  if (failure === null) return null;
  const advice = adviceFor({ failure, httpStatus: status });
  if (failure === 'status')
    return { reason: `The endpoint responded with ${String(status ?? '')}.`, detail: '', advice };
  return { reason: reasons[failure], detail: error !== null && error !== reasons[failure] ? error : '', advice };
}
