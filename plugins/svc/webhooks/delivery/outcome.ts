import type { OutboundResponse } from '#plugin-api';
import type { AttemptFailure, AttemptOutcome } from './deliver.contract.ts';

const maxRetryAfter = 60;

/**
 * Seconds an answer asks to wait: `Retry-After` of a 429 or 503, whole seconds or a date, at most 60 (D21). Null when it
 * asks for nothing that can be read, or for a time gone by.
 *
 * @param now milliseconds since the epoch
 */
function parseRetryAfter(status: number, headers: Readonly<Record<string, string>>, now: number): number | null {
  const value = headers['retry-after']?.trim();
  if ((status !== 429 && status !== 503) || !value) return null;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - now) / 1000;
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(maxRetryAfter, seconds) : null;
}

/** Statuses besides 5xx that are tried again (contract 3). */
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

/** The status line decides: any 2xx is a success, whatever becomes of the body (contract 6.7, D22). */
export function responseOutcome(response: OutboundResponse, { now, duration }: AttemptTime): AttemptOutcome {
  const { status, headers } = response;
  const ok = status >= 200 && status <= 299;
  return {
    ok,
    status,
    failure: ok ? null : 'status',
    error: ok ? null : `The endpoint answered ${status}.`,
    retryable: !ok && isRetryableStatus(status),
    retryAfter: ok ? null : parseRetryAfter(status, headers, now),
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

/** Failures that another try may mend. What the guard refuses and a redirect that may not be followed stay as they are. */
const retryableFailures: ReadonlySet<AttemptFailure> = new Set(['dns', 'connect', 'tls', 'timeout', 'reset', 'answer']);

/** No answer, or a redirect that may not be followed. Messages of the guarded fetch name host and reason, no path and no query. */
export function failedOutcome(thrown: unknown, url: string, { duration }: AttemptTime): AttemptOutcome {
  const { code = '', status = null } = (thrown ?? {}) as { code?: string; status?: number | null };
  const failure = isReset(thrown) ? 'reset' : (failureByCode[code] ?? 'connect');
  return {
    ok: false,
    status,
    failure,
    error: code in failureByCode && thrown instanceof Error ? thrown.message : 'The request could not be sent.',
    retryable: retryableFailures.has(failure),
    retryAfter: null,
    duration,
    responseHeaders: {},
    responseBody: '',
    finalUrl: url,
  };
}

/** Given up by this side, when it stops: it happened to the attempt, not to the endpoint. */
export function abortedOutcome(url: string, { duration }: AttemptTime): AttemptOutcome {
  return {
    ok: false,
    status: null,
    failure: 'aborted',
    error: 'The attempt was broken off because the service stopped.',
    retryable: true,
    retryAfter: null,
    duration,
    responseHeaders: {},
    responseBody: '',
    finalUrl: url,
  };
}

/** A connection that was made and then broken, as against one that never came about. */
function isReset(thrown: unknown): boolean {
  if (!(thrown instanceof Error) || !(thrown.cause instanceof Error)) return false;
  const { code = '', syscall = '' } = thrown.cause as { code?: string; syscall?: string };
  return code === 'UND_ERR_SOCKET' || code === 'EPIPE' || (code === 'ECONNRESET' && syscall !== 'connect');
}
