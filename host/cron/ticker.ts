import type { Clock, Logger } from '#plugin-api';
import type { Database } from '../database/database-contract.ts';

export const cronChannel = 'cron';

/** Intervals in milliseconds: checking whether the next event is due, and reading its time from the database. */
const tick = 1_000;
const refresh = 30_000;

export interface TickerDependencies {
  readonly database: Pick<Database, 'listen'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Milliseconds since the epoch, or null when there are no events. */
  readonly earliest: () => Promise<number | null>;
  readonly runDue: () => Promise<unknown>;
  /** See createClockJumps. */
  readonly readJump: () => number;
  /** The clock was set back. @param by milliseconds */
  readonly setBack: (by: number) => Promise<unknown>;
}

export interface Ticker {
  start(): Promise<void>;
  /** Waits for running events. */
  stop(): Promise<void>;
  /** Makes the next tick query the database. */
  wake(): void;
}

/** Runs due events: within a second if scheduled here or announced, within 30 s if the notification was lost. */
export function createTicker({
  database,
  clock,
  log,
  earliest,
  runDue,
  readJump,
  setBack,
}: TickerDependencies): Ticker {
  const undos: (() => void)[] = [];
  const launched = new Set<Promise<void>>();
  let working: Promise<void> | null = null;
  let next: number | null = null;
  let lastQuery = -Infinity;

  const wake = (): void => {
    lastQuery = -Infinity;
  };
  async function check(): Promise<void> {
    const now = clock.now();
    const jump = readJump();
    if (jump < 0) await setBack(-jump);
    if (now - lastQuery >= refresh || now < lastQuery) {
      lastQuery = now;
      next = await earliest();
    }
    if (next === null || next > now) return;
    // Not awaited: a job that takes hours must not delay others.
    const launch: Promise<void> = runDue()
      .then(wake, report)
      .finally(() => launched.delete(launch));
    launched.add(launch);
    wake();
  }
  const report = (error: unknown): void => {
    log.error('Failed to run due cron events; retrying', { event: 'cron_run_failed', error });
  };
  function onTick(): void {
    working ??= check()
      .catch(report)
      .finally(() => {
        working = null;
      });
  }

  return {
    wake,
    async start() {
      undos.push(await database.listen(cronChannel, wake, wake), clock.every(tick, onTick));
    },
    async stop() {
      for (const undo of undos.splice(0)) undo();
      await working;
      await Promise.all(launched);
    },
  };
}
