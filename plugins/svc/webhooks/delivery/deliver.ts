import type { Clock, HttpApi } from '#plugin-api';
import type { Deliver } from './deliver.contract.ts';
import { memoize } from '../../kit/caches.ts';
import { typedInternalHost } from '../../kit/internal-host.ts';
import { abortedOutcome, responseOutcome, failedOutcome, type AttemptTime } from './outcome.ts';

/** Bytes of a response body that are stored in the log (D22). */
const maxStoredBytes = 16 * 1024;

export interface DeliverDependencies {
  readonly http: Pick<HttpApi, 'fetch'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Milliseconds on a monotonic clock, for durations. Default: the clock of the process. */
  readonly elapsed?: () => number;
}

/**
 * Sends attempts through the guarded fetch (D22, D23): POST with the exact body, redirects within the origin that
 * preserve method and body, one timeout for all phases, at most 16 KB of the response. Never rejects. Its only state is
 * open connections.
 */
export function createDeliver({ http, clock, elapsed = () => performance.now() }: DeliverDependencies): Deliver {
  const timeSince = (startedAt: number): AttemptTime => ({
    now: clock.now(),
    duration: Math.max(0, Math.round(elapsed() - startedAt)),
  });
  const internalHost = memoize(typedInternalHost);
  return ({ url, headers, body, timeout, redirects, allowInternal, signal }) => {
    const startedAt = elapsed();
    const allowHost = internalHost(url);
    return http
      .fetch(url, {
        method: 'POST',
        headers,
        body,
        timeout,
        redirects,
        sameOriginOnly: true,
        allowInternal,
        maxBytes: maxStoredBytes,
        truncate: true,
        ...(allowHost !== null && { allowHost }),
        ...(signal && { signal }),
      })
      .then(
        (response) => responseOutcome(response, timeSince(startedAt)),
        (thrown: unknown) =>
          signal?.aborted
            ? abortedOutcome(url, timeSince(startedAt))
            : failedOutcome(thrown, url, timeSince(startedAt)),
      );
  };
}
