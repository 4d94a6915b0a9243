// Not the global ones: the host notes who starts those, which takes as long as some timers last (open-resources.ts).
import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers';
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
    after: (milliseconds, callback) => toUndo(setTimeout(callback, milliseconds)),
    every: (milliseconds, callback) => toUndo(setInterval(callback, milliseconds)),
  };
}

function toUndo(timer: NodeJS.Timeout): Undo {
  timer.unref();
  return () => {
    clearTimeout(timer);
  };
}

/**
 * Keeps the process alive until the work settles. The clock's timers are unreferenced, so a plugin's promise that never
 * settles would otherwise end the process before its time limit.
 */
export async function keepAlive<Result>(work: Promise<Result>): Promise<Result> {
  const timer = setInterval(() => undefined, 2 ** 31 - 1);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}

interface ClockJumpsInit {
  /** Milliseconds since the epoch, by the clock that may jump. */
  readonly wall: () => number;
  /** Milliseconds on a clock that never jumps. */
  readonly elapsed: () => number;
}

/** Milliseconds by which clocks are corrected all the time. */
const correction = 2_000;

/** Returns how far the wall clock has jumped since the last call, in milliseconds: forward, or back if negative; 0: not at all. */
export function createClockJumps({ wall, elapsed }: ClockJumpsInit): () => number {
  let offset = wall() - elapsed();
  return () => {
    const jump = wall() - elapsed() - offset;
    offset += jump;
    return Math.abs(jump) > correction ? jump : 0;
  };
}
