import type { Attempt, Delivery, DeliveryFailure, DeliveryState } from '../delivery.ts';

const byFailure: Readonly<Record<string, string>> = {
  dns: 'Check how the name is written, and that the DNS of this server knows it.',
  connect: 'Check host and port: nothing listens there, or a firewall is in between.',
  tls: 'Renew or correct the receiver’s certificate: it must be valid for this name.',
  timeout: 'The receiver must answer within 5 seconds: take the event, answer 2xx, and work on it afterwards.',
  guard: 'If the receiver really is in your own network, tick “Internal network” in the endpoint.',
  redirect: 'Enter the address that the redirects lead to.',
  reset: 'The receiver cut the connection before it answered; look into its log.',
  answer: 'What answers there does not speak HTTP; check port, and http or https.',
  filter: 'A filter of a plugin failed; look into the site’s log and tell its author.',
  stopped: 'Switch webhooks and endpoint on, then retry.',
  aborted: 'The site was stopping meanwhile; retry.',
};

const byStatus: Readonly<Record<number, string>> = {
  401: 'The receiver wants credentials: add its custom header, or check the signing secret on both sides.',
  403: 'The receiver refuses: check its custom header, the signing secret on both sides, and its list of allowed callers.',
  404: 'There is nothing at this address; check its path.',
  405: 'The receiver takes no POST there; check its path.',
  410: 'The receiver says that this address is gone; enter the new one.',
  413: 'The event is larger than the receiver takes; raise its limit.',
  415: 'The receiver must take Content-Type: application/json.',
  429: 'The receiver takes fewer events than come; retry later.',
};

/** What to do about a delivery that failed; one sentence, or none. */
export function adviceFor({ failure, httpStatus }: Pick<Delivery, 'failure' | 'httpStatus'>): string {
  if (failure !== 'status' || httpStatus === null) return byFailure[failure ?? ''] ?? '';
  return (
    byStatus[httpStatus] ??
    (httpStatus >= 500
      ? 'The receiver failed; look into its log.'
      : 'The receiver refuses this event; look at its answer in the recorder.')
  );
}

type Badge = { readonly text: string; readonly kind: 'success' | 'warning' | 'error' | 'info' };

const badges: Readonly<Record<DeliveryState, Badge>> = {
  pending: { text: 'Waiting', kind: 'info' },
  delivering: { text: 'Under way', kind: 'info' },
  delivered: { text: 'Delivered', kind: 'success' },
  failed: { text: 'Failed', kind: 'error' },
};

/** A delivery that waits after a failed attempt is to be told from one that nobody has tried yet. */
export function stateBadge({ state, attempts }: Pick<Delivery, 'state' | 'attempts'>): Badge {
  return state === 'pending' && attempts > 0 ? { text: 'Waiting to retry', kind: 'warning' } : badges[state];
}

const reasons: Readonly<Record<Exclude<DeliveryFailure, 'status'>, string>> = {
  dns: 'The name of the host has no address.',
  connect: 'No connection could be made.',
  tls: 'The secure connection failed.',
  timeout: 'There was no answer in time.',
  guard: 'The address is not to be called.',
  redirect: 'The answer was a redirect that is not followed.',
  reset: 'The connection broke before an answer came.',
  answer: 'The answer could not be read as HTTP.',
  filter: 'A filter of a plugin failed.',
  aborted: 'The attempt was broken off when the service stopped.',
  stopped: 'It was not sent, because endpoint or switch do not allow it any more.',
};

/** Why an attempt failed, and what to do about it; null when it did not. */
export function describeFailure({ failure, error, status }: Pick<Attempt, 'failure' | 'error' | 'status'>): {
  readonly reason: string;
  readonly detail: string;
  readonly advice: string;
} | null {
  if (failure === null) return null;
  const advice = adviceFor({ failure, httpStatus: status });
  if (failure === 'status') return { reason: `The endpoint answered ${String(status ?? '')}.`, detail: '', advice };
  return { reason: reasons[failure], detail: error !== null && error !== reasons[failure] ? error : '', advice };
}
