import type { Attempt, Delivery, DeliveryFailure, DeliveryState } from '../delivery.ts';
import { adviceOf } from './failed-advice.ts';

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
export function failureWords({ failure, error, status }: Pick<Attempt, 'failure' | 'error' | 'status'>): {
  readonly reason: string;
  readonly detail: string;
  readonly advice: string;
} | null {
  if (failure === null) return null;
  const advice = adviceOf({ failure, httpStatus: status });
  if (failure === 'status') return { reason: `The endpoint answered ${String(status ?? '')}.`, detail: '', advice };
  return { reason: reasons[failure], detail: error !== null && error !== reasons[failure] ? error : '', advice };
}
