import type { Clock } from '#plugin-api';

export interface FakeClockInit {
  /** Milliseconds since the epoch. Default 2026-01-01T00:00:00Z. */
  readonly now?: number;
  /** Let `sleep` pass at once, moving the time on. Timers of `after` and `every` still wait for `advance`. Default false. */
  readonly skipSleeps?: boolean;
}

/** A clock that stands still until it is moved. */
export interface FakeClock extends Clock {
  /** Moves the time on, running what falls due on the way in order, each with the work it starts given a chance to go on. */
  advance(milliseconds: number): Promise<void>;
  /** Sets the time without running anything, as a system whose clock is corrected. */
  jump(milliseconds: number): void;
  /** Timers and sleeps that still wait. */
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
        time += milliseconds;
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
    },
    pending: () => timers.size,
    advance: async (milliseconds) => {
      const until = time + milliseconds;
      for (let timer = nextDue(until); timer; timer = nextDue(until)) {
        time = Math.max(time, timer.at);
        if (timer.every === null) timers.delete(timer);
        else timer.at += timer.every;
        timer.run();
        await settle();
      }
      time = until;
      await settle();
    },
  };
}

/** Lets promises and input/output that are ready go on. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
