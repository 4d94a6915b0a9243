import type { Clock } from '#plugin-api';

export interface FakeClockInit {
  /** Milliseconds since the epoch. Default 2026-01-01T00:00:00Z. */
  readonly now?: number;
  /**
   * Whether `sleep` advances the time and returns at once. Timers of `after` and `every` still wait for `advance`. Default
   * false.
   */
  readonly skipSleeps?: boolean;
}

/** A clock that advances only on request. */
export interface FakeClock extends Clock {
  /** Advances the time and runs due timers in order, letting pending promises and I/O settle after each. */
  advance(milliseconds: number): Promise<void>;
  /** Shifts the time without running timers, like a system clock correction. */
  jump(milliseconds: number): void;
  /** Number of pending timers and sleeps. */
  pending(): number;
}

interface Timer {
  at: number;
  readonly every: number | null;
  readonly run: () => void;
}

export function createFakeClock({ now = Date.UTC(2026, 0, 1), skipSleeps = false }: FakeClockInit = {}): FakeClock {
  let time = now;
  const timers = new Set<Timer>();

  const add = (timer: Timer): (() => void) => {
    timers.add(timer);
    return () => void timers.delete(timer);
  };
  const nextDue = (until: number): Timer | undefined =>
    [...timers].filter(({ at }) => at <= until).sort((first, second) => first.at - second.at)[0];

  return {
    now: () => time,
    sleep: (milliseconds, signal) => {
      if (signal?.aborted) return Promise.reject(signal.reason as Error);
      if (skipSleeps) {
        // Whole milliseconds, as the system's clock has them.
        time += Math.ceil(milliseconds);
        return Promise.resolve();
      }
      return new Promise((resolve, reject) => {
        const abort = (): void => {
          cancel();
          reject(signal?.reason as Error);
        };
        const wake = (): void => {
          signal?.removeEventListener('abort', abort);
          resolve();
        };
        const cancel = add({ at: time + milliseconds, every: null, run: wake });
        signal?.addEventListener('abort', abort, { once: true });
      });
    },
    after: (milliseconds, run) => add({ at: time + milliseconds, every: null, run }),
    every: (milliseconds, run) => add({ at: time + milliseconds, every: milliseconds, run }),
    jump: (milliseconds) => {
      time += milliseconds;
      // Timers do not follow a clock that is set back.
      if (milliseconds < 0) for (const timer of timers) timer.at += milliseconds;
    },
    pending: () => timers.size,
    advance: async (milliseconds) => {
      const until = time + milliseconds;
      for (let timer = nextDue(until); timer; timer = nextDue(until)) {
        time = Math.max(time, timer.at);
        if (timer.every === null) timers.delete(timer);
        // A timer that a jump made late runs once, as the system's do.
        else timer.at = time + timer.every;
        timer.run();
        await settle();
      }
      // Another call may have advanced it further meanwhile.
      time = Math.max(time, until);
      await settle();
    },
  };
}

/** Lets ready promises and I/O callbacks run. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
