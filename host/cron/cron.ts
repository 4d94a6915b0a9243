import type { Clock, CronApi, Logger } from '#plugin-api';
import type { Database } from '../database/database-contract.ts';
import { expressionError, createSchedules, inTimeZone, type NamedSchedule, type Schedules } from './schedules.ts';
import { createRunner, type CronHooks } from './runner.ts';
import {
  createCronHistory,
  createCronStore,
  type CronRun,
  type CronStore,
  type EventFilter,
  type StoredEvent,
} from './store.ts';
import { createTicker, cronChannel } from './ticker.ts';

interface SchedulingDependencies {
  readonly database: Database;
  readonly hooks: Pick<CronHooks, 'doActionAsync'>;
  readonly store: CronStore;
  readonly schedules: Schedules;
  readonly clock: Clock;
  readonly log: Logger;
  /** Notifies all nodes that the schedule has changed. */
  readonly announce: () => Promise<void>;
}

type NewEvent = Omit<StoredEvent, 'id' | 'isRunning' | 'owner'>;

interface RecurringEvent {
  readonly schedule: string;
  readonly hook: string;
}

interface RecurringEvents {
  readonly events: readonly RecurringEvent[];
  readonly args: readonly unknown[];
}

/** Single events this close to an equal one are duplicates, in milliseconds. */
const duplicateWindow = 600_000;

/** The part of CronApi that writes and reads events. New events belong to the owner. */
function createScheduling(dependencies: SchedulingDependencies, owner: string): Omit<CronApi, 'addSchedule'> {
  const { store, schedules, clock } = dependencies;
  const add = (decide: () => Promise<readonly NewEvent[]>): Promise<boolean> => addEvents(dependencies, owner, decide);
  const nextRunOf = (event: StoredEvent): number =>
    (event.isRunning && event.schedule !== null
      ? schedules.next(event.schedule, { previous: event.nextRun, now: clock.now() })
      : null) ?? event.nextRun;

  return {
    async scheduleSingle(at, hook, args = []) {
      if (!isTime(at)) return false;
      return add(async () => {
        const { from, to } = duplicateRange(at, clock.now());
        const found = await findOwned(dependencies, owner, { hook, args });
        const isNear = found.map(nextRunOf).some((time) => time >= from && time <= to);
        return isNear ? [] : [{ hook, args, schedule: null, nextRun: at }];
      });
    },
    async schedule(given, hook, { args = [], firstRun, timeZone } = {}) {
      const schedule = timeZone === undefined ? given : inTimeZone(given, timeZone);
      if (firstRun === undefined) return addRecurring(dependencies, owner, { events: [{ schedule, hook }], args });
      if (!isValid(dependencies, owner, { schedule, hook })) return false;
      return isTime(firstRun) && add(async () => [{ hook, args, schedule, nextRun: firstRun }]);
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
async function addEvents(
  { database, store, announce }: SchedulingDependencies,
  owner: string,
  decide: () => Promise<readonly NewEvent[]>,
): Promise<boolean> {
  const isAdded = await database.transaction(async () => {
    await database.lock('cron');
    return store.insert(...(await decide()).map((event) => ({ ...event, owner })));
  });
  if (isAdded) await announce();
  return isAdded;
}

/** Leaves equal events as they are and replaces those with another schedule. Returns whether any was added. */
async function addRecurring(
  dependencies: SchedulingDependencies,
  owner: string,
  { events, args }: RecurringEvents,
): Promise<boolean> {
  const { store, schedules, clock } = dependencies;
  const valid = events.filter((event) => isValid(dependencies, owner, event));
  if (valid.length === 0) return false;
  return addEvents(dependencies, owner, async () => {
    const found = await findOwned(dependencies, owner, { hook: valid.map(({ hook }) => hook), args });
    const added: NewEvent[] = [];
    for (const event of valid) {
      const recurring = found.filter((other) => other.schedule !== null && other.hook === event.hook);
      if (recurring.some(({ schedule }) => schedule === event.schedule)) continue;
      for (const other of recurring) await store.removeOne(other);
      const nextRun = schedules.next(event.schedule, { previous: clock.now(), now: clock.now() });
      if (nextRun !== null) added.push({ ...event, args, nextRun });
    }
    return added;
  });
}

async function findOwned(
  { store }: SchedulingDependencies,
  owner: string,
  filter: Pick<EventFilter, 'hook' | 'args'>,
): Promise<StoredEvent[]> {
  const found = await store.find(filter);
  for (const event of found) if (event.owner === null) await store.setOwner(event.hook, owner);
  return found;
}

/** Plugins are named with what they wrote, because the event never runs. */
function isValid(
  { schedules, hooks }: SchedulingDependencies,
  owner: string,
  { schedule, hook }: RecurringEvent,
): boolean {
  if (schedules.isValid(schedule)) return true;
  void hooks.doActionAsync(
    'plugin_warning',
    owner,
    `The cron event '${hook}' is not scheduled, because '${schedule}' is neither the name of a schedule nor a cron expression. ` +
      "Write 'hourly', 'twicedaily', 'daily', 'weekly', or an expression such as '*/5 * * * *'.",
  );
  return false;
}

/**
 * After the clock was set back, recurring events would wait for the difference on top. They run when their schedule is due by the
 * clock as it is now; events whose first run is far in the future, and single ones, stay as they are. On several nodes the
 * result is the same however many do it.
 *
 * @param by milliseconds
 */
async function followClock(
  { store, schedules, clock, log }: Pick<SchedulingDependencies, 'store' | 'schedules' | 'clock' | 'log'>,
  by: number,
): Promise<void> {
  const now = clock.now();
  const moved = await store.bringForward(({ schedule, nextRun }) => {
    const next = schedules.next(schedule, { previous: now, now });
    if (next === null || nextRun <= next) return null;
    const period = (schedules.next(schedule, { previous: next, now: next }) ?? next) - next;
    return nextRun <= next + by + period ? next : null;
  });
  log.warn('The clock was set back; recurring events were brought forward', {
    event: 'clock_set_back',
    milliseconds: by,
    events: moved,
  });
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
  /** How far the machine's clock jumped since the last call, in milliseconds. Default: never. */
  readonly readJump?: () => number;
  /** Runs a job under its name. Default: runs it. */
  readonly track?: (name: string, work: () => unknown) => unknown;
}

export interface Cron extends CronApi {
  /** The same interface for a plugin, to which the events it schedules belong. */
  forOwner(owner: string): CronApi;
  /** Deletes the events of a plugin. Returns their number. */
  removeOwner(owner: string): Promise<number>;
  /** Schedules an event without arguments as `schedule` does, or together with others at the end of `gather`. */
  recur(owner: string, schedule: string, hook: string): Promise<void>;
  /** Stores all events of the owner's `recur` calls during the work in one transaction; none of them if the work fails. */
  gather<Result>(owner: string, work: () => Promise<Result>): Promise<Result>;
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
export function createCron({ database, hooks, clock, log, readJump = () => 0, track }: CronDependencies): Cron {
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
    readJump,
    setBack: (by) => followClock({ store, schedules, clock, log }, by),
  });
  const announce = (): Promise<void> => {
    ticker.wake();
    return database.notify(cronChannel, '');
  };
  const dependencies: SchedulingDependencies = { database, hooks, store, schedules, clock, log, announce };
  const gathered = new Map<string, RecurringEvent[]>();
  const forOwner = (owner: string): CronApi => ({
    ...createScheduling(dependencies, owner),
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
    async recur(owner, schedule, hook) {
      const event = { schedule, hook };
      const others = gathered.get(owner);
      if (others === undefined) await addRecurring(dependencies, owner, { events: [event], args: [] });
      else others.push(event);
    },
    async gather(owner, work) {
      const events: RecurringEvent[] = [];
      gathered.set(owner, events);
      try {
        const result = await work();
        await addRecurring(dependencies, owner, { events, args: [] });
        return result;
      } finally {
        gathered.delete(owner);
      }
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
