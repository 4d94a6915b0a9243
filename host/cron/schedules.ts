import type { Undo } from '#plugin-api';
import { expressionError, nextMatch } from './next-run.ts';

export interface NamedSchedule {
  /** Seconds. */
  readonly interval: number;
  readonly label: string;
}

export interface Schedules {
  add(name: string, interval: number, label: string): Undo;
  list(): Record<string, NamedSchedule>;
  /** Whether it is a named schedule or a cron expression. */
  isValid(schedule: string): boolean;
  /** The next run after a previous one. Runs missed before `now` collapse into one. Null: no further run. */
  next(schedule: string, times: { readonly previous: number; readonly now: number }): number | null;
}

/** The schedules of an event: named intervals as WordPress has them, and cron expressions in UTC. */
export function createSchedules(): Schedules {
  const named = new Map<string, NamedSchedule>([
    ['hourly', { interval: 3_600, label: 'Once an hour' }],
    ['twicedaily', { interval: 43_200, label: 'Twice a day' }],
    ['daily', { interval: 86_400, label: 'Once a day' }],
    ['weekly', { interval: 604_800, label: 'Once a week' }],
  ]);
  return {
    add(name, interval, label) {
      if (!Number.isInteger(interval) || interval < 1)
        throw new Error(`The schedule '${name}' needs an interval of whole seconds, 1 or more.`);
      if (named.has(name)) throw new Error(`The schedule '${name}' already exists.`);
      const schedule = { interval, label };
      named.set(name, schedule);
      return () => {
        if (named.get(name) === schedule) named.delete(name);
      };
    },
    list: () => Object.fromEntries(named),
    isValid: (schedule) => named.has(schedule) || expressionError(schedule) === null,
    next(schedule, { previous, now }) {
      const interval = named.get(schedule)?.interval;
      if (interval === undefined) return expressionError(schedule) === null ? nextMatch(schedule, now) : null;
      const missed = Math.max(0, Math.floor((now - previous) / (interval * 1000)));
      return previous + (missed + 1) * interval * 1000;
    },
  };
}
