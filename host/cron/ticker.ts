import type { Clock, Logger } from '#plugin-api';
import type { Database } from '../database/database-contract.ts';

export const cronChannel = 'cron';

/** How often a node looks whether the next event is due, and how often it asks the database which that is, in milliseconds. */
const tick = 1_000;
const refresh = 30_000;

export interface TickerDependencies {
  readonly database: Pick<Database, 'listen'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Milliseconds since the epoch, or null when there are no events. */
  readonly earliest: () => Promise<number | null>;
  readonly runDue: () => Promise<unknown>;
}

export interface Ticker {
  start(): Promise<void>;
  /** Waits for what runs. */
  stop(): Promise<void>;
  /** Ask the database again at the next tick. */
  wake(): void;
}

/** Runs what falls due: within a second when scheduled here or announced, within half a minute when the announcement was lost. */
export function createTicker({ database, clock, log, earliest, runDue }: TickerDependencies): Ticker {
  const undos: (() => void)[] = [];
  const launched = new Set<Promise<void>>();
  let working: Promise<void> | null = null;
  let next: number | null = null;
  let asked = -Infinity;

  const wake = (): void => {
    asked = -Infinity;
  };
  async function look(): Promise<void> {
    const now = clock.now();
    if (now - asked >= refresh || now < asked) {
      asked = now;
      next = await earliest();
    }
    if (next === null || next > now) return;
    // Not waited for: a job that takes hours must not keep the others from running.
    const launch: Promise<void> = runDue()
      .then(wake, report)
      .finally(() => launched.delete(launch));
    launched.add(launch);
    wake();
  }
  const report = (error: unknown): void => {
    log.error('Cron could not run what is due; trying again.', { error });
  };
  function onTick(): void {
    working ??= look()
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
