import { setTimeout } from 'node:timers/promises';

/** Milliseconds that a write waits for another process's lock. */
const longestWait = 5_000;
/** Milliseconds between the first tries, and at most. */
const firstPause = 1;
const longestPause = 20;
/** Milliseconds without a try after which nothing is known about the lock any more. */
const forgetAfter = 1_000;

/** Runs the work, and again while another process holds the lock. The event loop runs between the tries. */
export type RetryWhileBusy = <Result>(work: () => Result | Promise<Result>) => Promise<Result>;

/**
 * The wait for the lock of another process, one for each connection. Its limit is counted from when the lock was first met, not
 * from when a statement began to wait: of many statements in a row, or of a request with several, the first one waits, and
 * the others fail at once until one succeeds.
 *
 * @param now milliseconds of a clock that never goes back
 */
export function createRetryWhileBusy(now: () => number = () => performance.now()): RetryWhileBusy {
  let metAt: number | null = null;
  let triedAt = -Infinity;

  const isOver = (): boolean => {
    const time = now();
    if (metAt === null || time - triedAt > forgetAfter) metAt = time;
    triedAt = time;
    return time - metAt >= longestWait;
  };

  return async (work) => {
    for (let pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
      try {
        const result = await work();
        metAt = null;
        return result;
      } catch (error) {
        if (!isBusy(error) || isOver()) throw error;
      }
      await setTimeout(pause);
    }
  };
}

/** Whether another connection holds a lock that the statement needs. */
export function isBusy(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED'));
}
