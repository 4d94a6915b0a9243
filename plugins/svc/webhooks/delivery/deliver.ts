import type { Clock, HttpApi } from '#plugin-api';
import type { Deliver } from './deliver.contract.ts';
import { typedInternalHost } from '../../kit/internal-host.ts';
import { abortedOutcome, answeredOutcome, failedOutcome, type AttemptTime } from './outcome.ts';

/** Bytes of an answer that are kept for the log (D22). */
const keptBytes = 16 * 1024;

export interface DeliverDependencies {
  readonly http: Pick<HttpApi, 'fetch'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Milliseconds of a clock that never jumps, for durations. Default: the process's. */
  readonly elapsed?: () => number;
}

/**
 * Sends attempts through the guarded fetch (D22, D23): POST, exact bytes, redirects with method and body kept, all
 * phases within the time limit, at most 16 KB of the answer. Never rejects. Keeps no state but open connections.
 */
export function createDeliver({ http, clock, elapsed = () => performance.now() }: DeliverDependencies): Deliver {
  const timeSince = (begun: number): AttemptTime => ({
    now: clock.now(),
    duration: Math.max(0, Math.round(elapsed() - begun)),
  });
  const internalHost = remembering(typedInternalHost);
  return ({ url, headers, body, timeout, redirects, allowInternal, signal }) => {
    const begun = elapsed();
    const allowHost = internalHost(url);
    return http
      .fetch(url, {
        method: 'POST',
        headers,
        body,
        timeout,
        redirects,
        allowInternal,
        maxBytes: keptBytes,
        truncate: true,
        bulk: true,
        ...(allowHost !== null && { allowHost }),
        ...(signal && { signal }),
      })
      .then(
        (response) => answeredOutcome(response, timeSince(begun)),
        (thrown: unknown) =>
          signal?.aborted ? abortedOutcome(url, timeSince(begun)) : failedOutcome(thrown, url, timeSince(begun)),
      );
  };
}

/** The same few addresses are asked for at every attempt. */
function remembering<Answer>(ask: (text: string) => Answer): (text: string) => Answer {
  const known = new Map<string, Answer>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    if (known.size >= 1000) known.clear();
    const answer = ask(text);
    known.set(text, answer);
    return answer;
  };
}
