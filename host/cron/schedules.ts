import type { Undo } from '#plugin-api';
import { createTask, parse, validateDetailed } from 'node-cron';

const day = 86_400_000;
/** Days to search: 29 February occurs within 8 years, even across a century. */
const horizon = 366 * 8 + 1;

/** Why a cron expression is invalid, as a sentence; null if it is valid. */
export function expressionError(expression: string): string | null {
  const { valid, errors } = validateDetailed(expression);
  if (valid) return null;
  return `'${expression}' is not a cron expression: ${errors.map(({ message }) => message).join('; ')}`;
}

/**
 * The first time after `after` at which the expression matches, in UTC. Where both a day of the month and a weekday are given,
 * either is enough, as in crontab.
 *
 * @param after milliseconds since the epoch.
 * @returns milliseconds since the epoch, or null when it never matches (30 February).
 */
export function nextMatch(expression: string, after: number): number | null {
  const times = eitherDay(expression).flatMap((one) => matchAfter(one, after) ?? []);
  return times.length === 0 ? null : Math.min(...times);
}

/** One expression, or one for the day of the month and one for the weekday. A field that begins with `*` leaves the day to the other. */
function eitherDay(expression: string): string[] {
  const fields = expression.trim().split(/\s+/);
  const days = [fields.length - 3, fields.length - 1];
  if (days.some((at) => /^[*?]/.test(fields[at] ?? '*'))) return [expression];
  // 30 February alone is no expression.
  return days.map((other) => fields.with(other, '*').join(' ')).filter((one) => expressionError(one) === null);
}

/** node-cron wants both the day of the month and the weekday to match. */
function matchAfter(expression: string, after: number): number | null {
  const { second, minute, hour } = parse(expression);
  const task = createTask(expression, () => undefined, { timezone: 'UTC' });
  try {
    const start = Math.floor(after / day) * day;
    for (let offset = 0; offset < horizon; offset += 1) {
      const found = firstInDay({ midnight: start + offset * day, hour, minute, second }, after, (time) =>
        task.match(new Date(time)),
      );
      if (found !== null) return found;
    }
    return null;
  } finally {
    void task.destroy();
  }
}

interface DayTimes {
  readonly midnight: number;
  readonly hour: readonly number[];
  readonly minute: readonly number[];
  readonly second: readonly number[];
}

function firstInDay(
  { midnight, hour, minute, second }: DayTimes,
  after: number,
  matches: (time: number) => boolean,
): number | null {
  for (const hours of hour) {
    for (const minutes of minute) {
      for (const seconds of second) {
        const time = midnight + ((hours * 60 + minutes) * 60 + seconds) * 1000;
        if (time <= after) continue;
        // Hour, minute and second come from the expression, so only the day can fail to match.
        return matches(time) ? time : null;
      }
    }
  }
  return null;
}

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
