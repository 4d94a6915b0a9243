import type { OutboundResponse } from '#plugin-api';
import type { AttemptFailure, AttemptOutcome } from './deliver.contract.ts';
import { retryAfterOf } from './retry-after.ts';

/** Statuses besides 5xx that are tried again (contract 3). */
const retriedStatuses = new Set([408, 409, 425, 429]);

export function isRetriedStatus(status: number): boolean {
  return retriedStatuses.has(status) || (status >= 500 && status <= 599);
}

export interface AttemptTime {
  /** Milliseconds since the epoch, when the attempt ended. */
  readonly now: number;
  /** Milliseconds it took. */
  readonly duration: number;
}

/** The status line decides: any 2xx is a success, whatever becomes of the body (contract 6.7, D22). */
export function answeredOutcome(response: OutboundResponse, { now, duration }: AttemptTime): AttemptOutcome {
  const { status, headers } = response;
  const ok = status >= 200 && status <= 299;
  return {
    ok,
    status,
    failure: ok ? null : 'status',
    error: ok ? null : `The endpoint answered ${status}.`,
    retryable: !ok && isRetriedStatus(status),
    retryAfter: ok ? null : retryAfterOf(status, headers, now),
    duration,
    responseHeaders: headers,
    responseBody: response.text(),
    finalUrl: response.url,
  };
}

const failures: Readonly<Record<string, AttemptFailure>> = {
  outbound_refused: 'guard',
  outbound_dns: 'dns',
  outbound_connect: 'connect',
  outbound_tls: 'tls',
  outbound_timeout: 'timeout',
  outbound_redirects: 'redirect',
  outbound_unreadable: 'answer',
};

/** Failures that another try may mend. What the guard refuses and a redirect that may not be followed stay as they are. */
const retried: ReadonlySet<AttemptFailure> = new Set(['dns', 'connect', 'tls', 'timeout', 'reset', 'answer']);

/** No answer, or a redirect that may not be followed. Messages of the guarded fetch name host and reason, no path and no query. */
export function failedOutcome(thrown: unknown, url: string, { duration }: AttemptTime): AttemptOutcome {
  const { code = '', status = null } = (thrown ?? {}) as { code?: string; status?: number | null };
  const failure = isReset(thrown) ? 'reset' : (failures[code] ?? 'connect');
  return {
    ok: false,
    status,
    failure,
    error: code in failures && thrown instanceof Error ? thrown.message : 'The request could not be sent.',
    retryable: retried.has(failure),
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
