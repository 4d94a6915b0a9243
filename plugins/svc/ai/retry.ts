import type { HostApi } from '#plugin-api';
import { findErrorCode } from '../kit/upstream-error.ts';
import { asProviderError, isForeignRefusal, ProviderError } from '../providers/provider.ts';

export interface RetryInit {
  readonly services: { readonly host: Pick<HostApi, 'clock' | 'log'>; readonly random?: (() => number) | undefined };
  /** Id of the provider or vector store, for the log. */
  readonly provider: string;
  /** When the whole call must be over, in milliseconds since the epoch. */
  readonly deadline: number;
  readonly signal?: AbortSignal | undefined;
  /** Called after a failure; false if the call cannot start over. Default: it can. */
  readonly canRetry?: () => boolean;
}

const maxRetries = 2;
/** Milliseconds. */
const firstDelay = 500;
/** Seconds. */
const maxRetryAfter = 10;

/**
 * Makes an attempt and up to two retries if the error is retryable: connection errors, 408, 429 and 5xx (D9). Waits about
 * 0.5 s, then 1 s, or as long as `Retry-After` says. Throws the last error immediately if `Retry-After` exceeds 10 s or
 * the wait would not end before the deadline.
 *
 * @param attempt gets the milliseconds left, 1 or more.
 */
export async function withRetries<T>(attempt: (timeLeft: number) => Promise<T>, init: RetryInit): Promise<T> {
  const { services, provider, deadline, signal } = init;
  const { clock, log } = services.host;
  for (let retries = 0; ; retries += 1) {
    try {
      return await attempt(Math.max(1, deadline - clock.now()));
    } catch (thrown) {
      const error = asProviderError(thrown);
      if (isForeignRefusal(thrown))
        log.warn('Provider threw a RestError instead of an error of svc.providers', {
          event: 'provider_error_foreign',
          provider,
          error: thrown,
        });
      const delay =
        error?.retryable === true && retries < maxRetries && init.canRetry?.() !== false
          ? delayBefore(retries, error, services.random ?? Math.random)
          : null;
      if (error === null || delay === null || clock.now() + delay >= deadline) throw thrown;
      const { kind, status } = error;
      log.info('Retrying an upstream call', {
        event: 'upstream_retried',
        provider,
        kind,
        status,
        delay_ms: Math.round(delay),
      });
      await clock.sleep(delay, signal).catch((reason: unknown) => {
        throw new ProviderError({ kind: 'aborted', message: 'the request was aborted.', cause: reason });
      });
    }
  }
}

/** How the other side ends a connection, such as one that was kept alive until it had enough of it. */
const cutCodes: readonly (string | null)[] = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'];

/**
 * Milliseconds, or null to give up. A cut connection is replaced at once, the first time. Without `Retry-After` the delay is
 * random, from half to all of its length, so that callers spread.
 */
function delayBefore(retries: number, error: ProviderError, random: () => number): number | null {
  if (error.retryAfter !== null) return error.retryAfter > maxRetryAfter ? null : error.retryAfter * 1000;
  if (retries === 0 && error.kind === 'connection' && cutCodes.includes(findErrorCode(error))) return 0;
  return firstDelay * 2 ** retries * (0.5 + random() / 2);
}
