import type { Clock, CronApi, Logger } from '#plugin-api';
import type { Database } from '../database/database-contract.ts';
import { expressionError, createSchedules, type NamedSchedule, type Schedules } from './schedules.ts';
import { createRunner, type CronHooks } from './runner.ts';
import { createCronHistory, createCronStore, type CronRun, type CronStore, type StoredEvent } from './store.ts';
import { createTicker, cronChannel } from './ticker.ts';

interface SchedulingDependencies {
  readonly database: Database;
  readonly store: CronStore;
  readonly schedules: Schedules;
  readonly clock: Clock;
  readonly log: Logger;
  /** Notifies all nodes that the schedule has changed. */
  readonly announce: () => Promise<void>;
}

type NewEvent = Omit<StoredEvent, 'id' | 'isRunning' | 'owner'>;

/** Single events this close to an equal one are duplicates, in milliseconds. */
const duplicateWindow = 600_000;

/** The part of CronApi that writes and reads events. New events belong to the owner. */
function createScheduling(dependencies: SchedulingDependencies, owner: string): Omit<CronApi, 'addSchedule'> {
  const { store, schedules, clock, log } = dependencies;
  const add = (decide: () => Promise<NewEvent | null>): Promise<boolean> => addEvent(dependencies, owner, decide);
  const find = async (hook: string, args: readonly unknown[]): Promise<StoredEvent[]> => {
    const found = await store.find({ hook, args });
    if (found.some((event) => event.owner === null)) await store.setOwner(hook, owner);
    return found;
  };
  const nextRunOf = (event: StoredEvent): number =>
    (event.isRunning && event.schedule !== null
      ? schedules.next(event.schedule, { previous: event.nextRun, now: clock.now() })
      : null) ?? event.nextRun;

  return {
    async scheduleSingle(at, hook, args = []) {
      if (!isTime(at)) return false;
      return add(async () => {
        const { from, to } = duplicateRange(at, clock.now());
        const isNear = (await find(hook, args)).map(nextRunOf).some((time) => time >= from && time <= to);
        return isNear ? null : { hook, args, schedule: null, nextRun: at };
      });
    },
    async schedule(schedule, hook, { args = [], firstRun } = {}) {
      if (!schedules.isValid(schedule)) {
        log.warn('Cron event refused: its schedule is neither a known name nor a cron expression', {
          event: 'cron_schedule_invalid',
          hook,
          schedule,
          plugin: owner,
        });
        return false;
      }
      if (firstRun !== undefined)
        return isTime(firstRun) && add(async () => ({ hook, args, schedule, nextRun: firstRun }));
      return add(async () => {
        const recurring = (await find(hook, args)).filter((event) => event.schedule !== null);
        if (recurring.some((event) => event.schedule === schedule)) return null;
        for (const event of recurring) await store.removeOne(event);
        const nextRun = schedules.next(schedule, { previous: clock.now(), now: clock.now() });
        return nextRun === null ? null : { hook, args, schedule, nextRun };
      });
    },
    unschedule: (hook, args, at) => store.remove({ hook, args, at }),
    async next(hook, args = []) {
      const times = (await store.find({ hook, args })).map(nextRunOf);
      return times.length === 0 ? false : Math.min(...times);
    },
    async list() {
      const events = (await store.find()).map((event) => ({
        hook: event.hook,
        args: event.args,
        nextRun: nextRunOf(event),
        schedule: event.schedule,
      }));
      return events.sort((one, other) => one.nextRun - other.nextRun);
    },
  };
}

/** The lock ensures that a second node scheduling the same event finds the first one's. */
async function addEvent(
  { database, store, announce }: SchedulingDependencies,
  owner: string,
  decide: () => Promise<NewEvent | null>,
): Promise<boolean> {
  const isAdded = await database.transaction(async () => {
    await database.lock('cron');
    const event = await decide();
    return event !== null && store.insert({ ...event, owner });
  });
  if (isAdded) await announce();
  return isAdded;
}

/** WordPress's rule: an event that is due within the window, or overdue, is a duplicate of everything up to the window's end. */
function duplicateRange(at: number, now: number): { readonly from: number; readonly to: number } {
  return { from: at < now + duplicateWindow ? 0 : at - duplicateWindow, to: Math.max(at, now) + duplicateWindow };
}

function isTime(at: number): boolean {
  return Number.isFinite(at) && at > 0;
}

export { migrations } from './migrations.ts';
export type { CronRun } from './store.ts';

export interface CronDependencies {
  readonly database: Database;
  readonly hooks: CronHooks;
  readonly clock: Clock;
  readonly log: Logger;
  /** Runs a job under its name. Default: runs it. */
  readonly track?: (name: string, work: () => unknown) => unknown;
}

export interface Cron extends CronApi {
  /** The same interface for a plugin, to which the events it schedules belong. */
  forOwner(owner: string): CronApi;
  /** Deletes the events of a plugin. Returns their number. */
  removeOwner(owner: string): Promise<number>;
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
export function createCron({ database, hooks, clock, log, track }: CronDependencies): Cron {
  const store = createCronStore(database);
  const schedules = createSchedules();
  const history = createCronHistory(database);
  const runner = createRunner({ store, history, schedules, hooks, clock, log, ...(track && { track }) });
  const ticker = createTicker({
    database,
    clock,
    log,
    earliest: () => store.earliest((hook) => Boolean(hooks.hasAction(hook))),
    runDue: () => runner.runDue(),
  });
  const announce = (): Promise<void> => {
    ticker.wake();
    return database.notify(cronChannel, '');
  };
  const forOwner = (owner: string): CronApi => ({
    ...createScheduling({ database, store, schedules, clock, log, announce }, owner),
    addSchedule(name, interval, label) {
      if (expressionError(name) === null)
        throw new Error(`'${name}' is a cron expression; choose another name for the schedule.`);
      return schedules.add(name, interval, label);
    },
  });
  return {
    ...forOwner('host'),
    forOwner,
    removeOwner: (owner) => store.removeOwner(owner),
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
