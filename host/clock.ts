import type { Clock, Undo } from '#plugin-api';

/** The clock of a running host: the system's time and timers. */
export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    sleep: (milliseconds, signal) =>
      new Promise<void>((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason as Error);
        const timer = setTimeout(() => {
          signal?.removeEventListener('abort', abort);
          resolve();
        }, milliseconds);
        const abort = (): void => {
          clearTimeout(timer);
          reject(signal?.reason as Error);
        };
        signal?.addEventListener('abort', abort, { once: true });
      }),
    after: (milliseconds, callback) => cancelling(setTimeout(callback, milliseconds)),
    every: (milliseconds, callback) => cancelling(setInterval(callback, milliseconds)),
  };
}

function cancelling(timer: NodeJS.Timeout): Undo {
  timer.unref();
  return () => {
    clearTimeout(timer);
  };
}

/**
 * Keeps the process alive until the work has settled, though nothing else may do so: a plugin's promise that never
 * settles, say, which the clock's own timers would otherwise not live to see.
 */
export async function keepAlive<Result>(work: Promise<Result>): Promise<Result> {
  const timer = setInterval(() => undefined, 2 ** 31 - 1);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}
