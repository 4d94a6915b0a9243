import type { Undo } from './undo.ts';

export interface CronEvent {
  readonly hook: string;
  readonly args: readonly unknown[];
  /** Milliseconds since the epoch. */
  readonly nextRun: number;
  /** Name of the schedule, a cron expression, or null for an event that runs once. */
  readonly schedule: string | null;
}

export interface CronEventInit {
  /** JSON values handed to the action. Default none. */
  readonly args?: readonly unknown[];
  /** Milliseconds since the epoch. Default: one interval from now, or the expression's next match. */
  readonly firstRun?: number;
}

/**
 * Persisted events that run an action at a time. The handler is an ordinary action callback: `hooks.addAction(hook, ...)`.
 * On several nodes one node runs an event, under a lease; runs missed while no node was up collapse into one.
 */
export interface CronApi {
  /** Runs once at `at` (milliseconds since the epoch). An equal event within ten minutes of it is refused: answers false. */
  scheduleSingle(at: number, hook: string, args?: readonly unknown[]): Promise<boolean>;
  /**
   * Runs again and again. Without `firstRun` an event of equal hook, arguments and schedule is left as it is, and one of
   * another schedule is replaced, so that a plugin may call this at each start; answers whether an event was added.
   *
   * @param schedule `hourly`, `twicedaily`, `daily`, `weekly`, one added with addSchedule, or a cron expression in UTC (`*&#47;5 * * * *`).
   */
  schedule(schedule: string, hook: string, when?: CronEventInit): Promise<boolean>;
  /**
   * Removes all events of the hook with these arguments (all of the hook when left out); answers how many.
   *
   * @param at milliseconds since the epoch: only the event that is due then.
   */
  unschedule(hook: string, args?: readonly unknown[], at?: number): Promise<number>;
  next(hook: string, args?: readonly unknown[]): Promise<number | false>;
  list(): Promise<CronEvent[]>;
  /** @param interval seconds, 1 or more. */
  addSchedule(name: string, interval: number, label: string): Undo;
}
