import type { Clock } from '#plugin-api';
import { asProviderError, ProviderError } from '../providers/provider.ts';

export interface RetryInit {
  readonly clock: Clock;
  /** 0 up to 1. */
  readonly random: () => number;
  /** When the whole call must be over, in milliseconds since the epoch. */
  readonly deadline: number;
  readonly signal?: AbortSignal | undefined;
  /** Asked after a failure; false: what was begun cannot be begun again. Default: it can. */
  readonly mayRetry?: () => boolean;
  /** Told of each further try: what failed, and the milliseconds until then. */
  readonly onRetry?: (error: ProviderError, wait: number) => void;
}

const furtherTries = 2;
const firstWait = 500;
const longestRetryAfter = 10;

/**
 * Makes an attempt, and up to two more where the error says that another may help: connection errors, 408, 429 and 5xx
 * (D9). Waits about 0.5 s, then 1 s, or as long as `Retry-After` asks. Gives up at once, with the last error, when more
 * than 10 s are asked for or the wait would not end before the deadline; a far end that asks for time is not pressed.
 *
 * @param attempt gets the milliseconds left, 1 or more.
 */
export async function withRetries<T>(attempt: (timeLeft: number) => Promise<T>, init: RetryInit): Promise<T> {
  const { clock, deadline, signal } = init;
  for (let tries = 0; ; tries += 1) {
    try {
      return await attempt(Math.max(1, deadline - clock.now()));
    } catch (thrown) {
      const error = asProviderError(thrown);
      const wait =
        error?.retryable === true && tries < furtherTries && init.mayRetry?.() !== false
          ? waitBefore(tries, error, init.random)
          : null;
      if (error === null || wait === null || clock.now() + wait >= deadline) throw thrown;
      init.onRetry?.(error, wait);
      await clock.sleep(wait, signal).catch((reason: unknown) => {
        throw new ProviderError({ kind: 'aborted', message: 'the request was given up.', cause: reason });
      });
    }
  }
}

/** Milliseconds, or null to give up. A wait of our own lies between half its length and the whole, so that callers spread. */
function waitBefore(tries: number, error: ProviderError, random: () => number): number | null {
  if (error.retryAfter !== null) return error.retryAfter > longestRetryAfter ? null : error.retryAfter * 1000;
  return firstWait * 2 ** tries * (0.5 + random() / 2);
}
