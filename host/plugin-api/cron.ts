import type { Undo } from './undo.ts';

export interface CronEvent {
  readonly hook: string;
  readonly args: readonly unknown[];
  /** Milliseconds since the epoch. */
  readonly nextRun: number;
  /** Name of the schedule, a cron expression, or null for an event that runs once. */
  readonly schedule: string | null;
}

/** How the page Cron names an event. */
export interface CronEventLabel {
  /** For example `Fetch new orders`. */
  readonly label: string;
  /** A sentence about what it does, or about its arguments. */
  readonly help?: string;
}

declare module './hooks.ts' {
  interface FilterMap {
    /**
     * Names of scheduled events by hook, for the page Cron. A plugin adds those that it schedules with `cron.schedule`; jobs have
     * their own labels. Events with a name belong to a running plugin, so the page does not offer to delete them.
     */
    cron_event_labels: (labels: Readonly<Record<string, CronEventLabel>>) => Readonly<Record<string, CronEventLabel>>;
  }
}

export interface CronEventInit {
  /** JSON values passed to the action. Default none. */
  readonly args?: readonly unknown[];
  /** Milliseconds since the epoch. Default: one interval from now, or the expression's next match. */
  readonly firstRun?: number;
  /**
   * IANA name of the time zone by whose clock on the wall a cron expression runs (D44): a time that does not exist at the next
   * one that does, a time that comes twice once. Default: UTC.
   */
  readonly timeZone?: string;
}

/**
 * Persisted events that run an action at a scheduled time. The handler is an action callback: `hooks.addAction(hook, ...)`.
 * Only one node runs an event, under a lease. Runs missed while no node was up collapse into one.
 */
export interface CronApi {
  /** Runs once at `at` (milliseconds since the epoch). Returns false, without scheduling, if an equal event exists within ten minutes. */
  scheduleSingle(at: number, hook: string, args?: readonly unknown[]): Promise<boolean>;
  /**
   * Runs repeatedly. Without `firstRun`, an equal event is left unchanged, and an event with another schedule is replaced, so
   * that a plugin may call this at each start. Returns whether an event was added.
   *
   * @param schedule `hourly`, `twicedaily`, `daily`, `weekly`, one added with addSchedule, or a cron expression
   *   (`*&#47;5 * * * *`), in UTC without `timeZone`, with which `list` shows it after `CRON_TZ=`.
   */
  schedule(schedule: string, hook: string, when?: CronEventInit): Promise<boolean>;
  /**
   * Removes the hook's events with these arguments (all its events by default). Returns their number.
   *
   * @param at milliseconds since the epoch: only the event due at that time.
   */
  unschedule(hook: string, args?: readonly unknown[], at?: number): Promise<number>;
  next(hook: string, args?: readonly unknown[]): Promise<number | false>;
  list(): Promise<CronEvent[]>;
  /** @param interval seconds, 1 or more. */
  addSchedule(name: string, interval: number, label: string): Undo;
}
