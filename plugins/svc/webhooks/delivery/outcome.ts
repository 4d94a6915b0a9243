import { outboundReason, type OutboundResponse } from '#plugin-api';
import type { AttemptFailure, AttemptOutcome } from './deliver.contract.ts';

/**
 * Seconds that `Retry-After` of a 429 or 503 requests, as whole seconds or a date (D45). Returns null without a readable value
 * or for a time in the past.
 *
 * @param now milliseconds since the epoch
 */
function parseRetryAfter(status: number, headers: Readonly<Record<string, string>>, now: number): number | null {
  const value = headers['retry-after']?.trim();
  if ((status !== 429 && status !== 503) || !value) return null;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - now) / 1000;
  return Number.isFinite(seconds) && seconds > 0 ? seconds : null;
}

/** The status of an endpoint that wants no deliveries any more (D45). */
const goneStatus = 410;

/** Whether the endpoint itself said so, as opposed to a redirect that was not followed. */
export function isGone({ status, failure }: Pick<AttemptOutcome, 'status' | 'failure'>): boolean {
  return status === goneStatus && failure === 'status';
}

function statusError(status: number, retryAfter: number | null): string {
  if (status === goneStatus) return 'The endpoint responded with 410 Gone: it wants no more deliveries.';
  return retryAfter === null
    ? `The endpoint responded with ${String(status)}.`
    : `The endpoint responded with ${String(status)} and asked for a wait of ${String(Math.ceil(retryAfter))} s.`;
}

/** Statuses besides 5xx that are retried (contract 3). */
const retryableStatuses = new Set([408, 409, 425, 429]);

export function isRetryableStatus(status: number): boolean {
  return retryableStatuses.has(status) || (status >= 500 && status <= 599);
}

export interface AttemptTime {
  /** Milliseconds since the epoch, when the attempt ended. */
  readonly now: number;
  /** Milliseconds it took. */
  readonly duration: number;
}

/** The status decides: any 2xx is a success, even if reading the body fails (contract 6.7, D22). */
export function responseOutcome(response: OutboundResponse, { now, duration }: AttemptTime): AttemptOutcome {
  const { status, headers } = response;
  const ok = status >= 200 && status <= 299;
  const retryAfter = ok ? null : parseRetryAfter(status, headers, now);
  return {
    ok,
    status,
    failure: ok ? null : 'status',
    error: ok ? null : statusError(status, retryAfter),
    retryable: !ok && isRetryableStatus(status),
    retryAfter,
    duration,
    responseHeaders: headers,
    responseBody: response.text(),
    finalUrl: response.url,
  };
}

const failureByCode: Readonly<Record<string, AttemptFailure>> = {
  outbound_refused: 'guard',
  outbound_dns: 'dns',
  outbound_connect: 'connect',
  outbound_tls: 'tls',
  outbound_timeout: 'timeout',
  outbound_redirects: 'redirect',
  outbound_unreadable: 'answer',
};

/** Failures that a retry may resolve. URLs that the guard refuses and redirects that are not followed fail again. */
const retryableFailures: ReadonlySet<AttemptFailure> = new Set(['dns', 'connect', 'tls', 'timeout', 'reset', 'answer']);

/** No response, or a redirect that is not followed. Messages of the guarded fetch name host and reason, never path or query. */
export function failedOutcome(thrown: unknown, url: string, { duration }: AttemptTime): AttemptOutcome {
  const { code = '', status = null } = (thrown ?? {}) as { code?: string; status?: number | null };
  const failure = isReset(thrown) ? 'reset' : (failureByCode[code] ?? 'connect');
  return {
    ok: false,
    status,
    failure,
    error: outboundReason(thrown) ?? 'The request could not be sent.',
    retryable: retryableFailures.has(failure),
    retryAfter: null,
    duration,
    responseHeaders: {},
    responseBody: '',
    finalUrl: url,
  };
}

/** Aborted because this process stops; not a failure of the endpoint. */
export function abortedOutcome(url: string, { duration }: AttemptTime): AttemptOutcome {
  return {
    ok: false,
    status: null,
    failure: 'aborted',
    error: 'The attempt was aborted because the service stopped.',
    retryable: true,
    retryAfter: null,
    duration,
    responseHeaders: {},
    responseBody: '',
    finalUrl: url,
  };
}

/** Whether an established connection broke, as opposed to one that could not be opened. */
function isReset(thrown: unknown): boolean {
  if (!(thrown instanceof Error) || !(thrown.cause instanceof Error)) return false;
  const { code = '', syscall = '' } = thrown.cause as { code?: string; syscall?: string };
  return code === 'UND_ERR_SOCKET' || code === 'EPIPE' || (code === 'ECONNRESET' && syscall !== 'connect');
}
