import type { Clock, Logger, Undo } from '#plugin-api';
import { printMetrics } from './metrics.ts';

/** Runs work under a name: a route or a job. */
export type Track = <Result>(name: string, work: () => Result) => Result;

export interface EventLoopWatch {
  /** Names what runs, so that a block of the event loop can be attributed to it. */
  readonly track: Track;
  /** The delays in Prometheus's text format. */
  expose(): Promise<string>;
  /** Starts to measure. Commands never do: they may block as they like. */
  start(): void;
  stop(): void;
}

/** Milliseconds: how often the delay is measured, and from which delay on it is logged. */
const interval = 100;
const threshold = 200;
/** Most names in a log line. */
const maxNames = 5;

/** Upper bounds in seconds. */
const bounds = [0.01, 0.05, 0.1, 0.2, 0.5, 1, 5, 10];

/**
 * Measures how late a timer runs, which is how long the event loop was blocked, on the clock of the process. A block above
 * 200 ms is logged with what ran meanwhile: the one whose synchronous part took that long, else all that ran in that time.
 */
export function createEventLoopWatch({
  clock,
  log,
}: {
  readonly clock: Pick<Clock, 'every'>;
  readonly log: Logger;
}): EventLoopWatch {
  const running = new Map<symbol, string>();
  /** What ended since the last measurement, and what blocked by itself. */
  const ended = new Set<string>();
  const culprits = new Set<string>();
  const delays = createDelays();
  let blocks = 0;
  let longest = 0;
  let before = performance.now();

  const measure = (): void => {
    const now = performance.now();
    const delay = Math.max(0, now - before - interval);
    before = now;
    delays.observe(delay / 1000);
    longest = Math.max(longest, delay / 1000);
    if (delay > threshold) {
      blocks += 1;
      const names = culprits.size > 0 ? culprits : new Set([...ended, ...running.values()]);
      log.warn('Event loop blocked', {
        event: 'event_loop_blocked',
        duration_ms: Math.round(delay),
        during: [...names].slice(0, maxNames),
        is_certain: culprits.size > 0,
      });
    }
    ended.clear();
    culprits.clear();
  };
  let stopMeasuring: Undo | null = null;

  const track: Track = (name, work) => {
    const id = Symbol(name);
    const startedAt = performance.now();
    const end = (): void => {
      running.delete(id);
      ended.add(name);
    };
    running.set(id, name);
    let result: ReturnType<typeof work> | undefined;
    try {
      result = work();
      return result;
    } finally {
      if (performance.now() - startedAt > threshold) culprits.add(name);
      if (result instanceof Promise) result.then(end, end);
      else end();
    }
  };

  return {
    track,
    expose: async () =>
      [
        delays.print(),
        await printMetrics([
          {
            name: 'event_loop_blocks_total',
            type: 'counter',
            help: 'Delays of the event loop above 200 ms.',
            samples: [{ value: blocks }],
          },
          {
            name: 'event_loop_longest_delay_seconds',
            type: 'gauge',
            help: 'Longest delay since the start.',
            samples: [{ value: longest }],
          },
        ]),
      ].join('\n'),
    start() {
      before = performance.now();
      stopMeasuring ??= clock.every(interval, measure);
    },
    stop() {
      stopMeasuring?.();
      stopMeasuring = null;
    },
  };
}

/** A histogram that a process fills from its start on, without the library that prints metrics, which the first scrape loads. */
function createDelays() {
  const name = 'event_loop_delay_seconds';
  const counts = bounds.map(() => 0);
  let count = 0;
  let sum = 0;
  return {
    observe(seconds: number): void {
      for (const [index, bound] of bounds.entries()) if (seconds <= bound) counts[index] = (counts[index] ?? 0) + 1;
      count += 1;
      sum += seconds;
    },
    print: (): string =>
      [
        `# HELP ${name} How late a timer of the event loop runs.`,
        `# TYPE ${name} histogram`,
        ...bounds.map((bound, index) => `${name}_bucket{le="${bound}"} ${counts[index] ?? 0}`),
        `${name}_bucket{le="+Inf"} ${count}`,
        [`${name}_sum`, sum].join(' '),
        [`${name}_count`, count].join(' '),
      ].join('\n'),
  };
}
