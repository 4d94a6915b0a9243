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
