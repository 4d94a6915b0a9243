import type { Clock, CronApi, Logger } from '#plugin-api';
import type { Database } from '../database/database-contract.ts';
import { expressionError } from './next-run.ts';
import { createRunner, type CronHooks } from './runner.ts';
import { createScheduling } from './scheduling.ts';
import { createSchedules, type NamedSchedule } from './schedules.ts';
import { createCronHistory, createCronStore, type CronRun } from './store.ts';
import { createTicker, cronChannel } from './ticker.ts';

export { migrations } from './migrations.ts';
export type { CronRun } from './store.ts';

export interface CronDependencies {
  readonly database: Database;
  readonly hooks: CronHooks;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface Cron extends CronApi {
  /** Starts to run due events: within a second, or at most 30 s if another node's notification was lost. */
  start(): Promise<void>;
  /** Starts no more events and waits for running ones. */
  stop(): Promise<void>;
  /** Runs due events. Returns the number that ran on this node. */
  runDue(): Promise<number>;
  /**
   * Runs the hook's events now (once without arguments if it has none). Their schedules do not change.
   *
   * @throws Error when the hook has no callbacks.
   */
  run(hook: string): Promise<CronRun[]>;
  /** Newest first. */
  history(query?: { readonly hook?: string; readonly limit?: number }): Promise<CronRun[]>;
  schedules(): Record<string, NamedSchedule>;
}

/** Persisted events; the contract is CronApi. */
export function createCron({ database, hooks, clock, log }: CronDependencies): Cron {
  const store = createCronStore(database);
  const schedules = createSchedules();
  const history = createCronHistory(database);
  const runner = createRunner({ store, history, schedules, hooks, clock, log });
  const ticker = createTicker({
    database,
    clock,
    log,
    earliest: () => store.earliest(),
    runDue: () => runner.runDue(),
  });
  const announce = (): Promise<void> => {
    ticker.wake();
    return database.notify(cronChannel, '');
  };
  return {
    ...createScheduling({ database, store, schedules, clock, log, announce }),
    addSchedule(name, interval, label) {
      if (expressionError(name) === null)
        throw new Error(`'${name}' is a cron expression; choose another name for the schedule.`);
      return schedules.add(name, interval, label);
    },
    schedules: () => schedules.list(),
    start: () => ticker.start(),
    stop: () => ticker.stop(),
    runDue: () => runner.runDue(),
    async run(hook) {
      if (!hooks.hasAction(hook))
        throw new Error(`The hook '${hook}' has no callbacks; run 'cron list' to see the scheduled events.`);
      const events = await store.find({ hook });
      return Promise.all(
        (events.length > 0 ? events : [{ hook, args: [], schedule: null }]).map((event) => runner.runNow(event)),
      );
    },
    history: ({ hook, limit = 100 } = {}) => history.list({ limit, ...(hook !== undefined && { hook }) }),
  };
}
