import { localIso, momentOf, utcIso, zoneOffset, type Undo } from '#plugin-api';
import { createTask, parse, validateDetailed } from 'node-cron';

const day = 86_400_000;
/** Days to search: 29 February occurs within 8 years, even across a century. */
const horizon = 366 * 8 + 1;

/** The cron expression in a time zone, as crontab writes it. */
export function inTimeZone(expression: string, timeZone: string): string {
  return `CRON_TZ=${timeZone} ${expression}`;
}

function readExpression(expression: string): { readonly fields: string; readonly timeZone: string } {
  const [, timeZone = 'UTC', fields = expression] = /^CRON_TZ=(\S+) (.*)$/s.exec(expression.trim()) ?? [];
  return { fields, timeZone };
}

function isTimeZone(timeZone: string): boolean {
  // The first formatter takes milliseconds.
  if (timeZone === 'UTC') return true;
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).format(0) !== '';
  } catch {
    return false;
  }
}

/** Why a cron expression is invalid, as a sentence; null if it is valid. */
export function expressionError(expression: string): string | null {
  const { fields, timeZone } = readExpression(expression);
  if (!isTimeZone(timeZone)) return `'${timeZone}' is not a time zone; use a name such as Europe/Berlin.`;
  const { valid, errors } = validateDetailed(fields);
  if (valid) return null;
  return `'${expression}' is not a cron expression: ${errors.map(({ message }) => message).join('; ')}`;
}

/**
 * The first time after `after` at which the expression matches, by the clock on the wall of its time zone (D44), in UTC without
 * one: a time that does not exist is the next one that does, of a time that comes twice the first counts. Where both a day
 * of the month and a weekday are given, either is enough, as in crontab.
 *
 * @param after milliseconds since the epoch.
 * @returns milliseconds since the epoch, or null when it never matches (30 February).
 */
export function nextMatch(expression: string, after: number): number | null {
  const { fields, timeZone } = readExpression(expression);
  const times = eitherDay(fields).flatMap((one) => matchAfter(one, after, timeZone) ?? []);
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

/**
 * node-cron's own `getNextRun` starts at the time of the process, not of the clock, so its `match` is asked about each day. It
 * wants both the day of the month and the weekday to match.
 */
function matchAfter(expression: string, after: number, timeZone: string): number | null {
  const { second, minute, hour } = parse(expression);
  const task = createTask(expression, () => undefined, { timezone: 'UTC' });
  try {
    const start = Math.floor((after + zoneOffset(after, timeZone)) / day) * day;
    for (let offset = 0; offset < horizon; offset += 1) {
      const found = firstInDay({ midnight: start + offset * day, hour, minute, second }, (wall) => {
        const time = timeZone === 'UTC' ? wall : momentOnWall(wall, timeZone);
        // Hour, minute and second come from the expression, so only the day can fail to match.
        return time <= after ? 'later' : task.match(new Date(wall)) ? time : null;
      });
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

/** @param timeOf by a time on the wall as if that were UTC; null: not on this day */
function firstInDay(
  { midnight, hour, minute, second }: DayTimes,
  timeOf: (wall: number) => number | 'later' | null,
): number | null {
  for (const hours of hour) {
    for (const minutes of minute) {
      for (const seconds of second) {
        const time = timeOf(midnight + ((hours * 60 + minutes) * 60 + seconds) * 1000);
        if (time !== 'later') return time;
      }
    }
  }
  return null;
}

/** The moment at which the clock on the wall shows a time for the first time, or passes it. */
function momentOnWall(wall: number, timeZone: string): number {
  const text = utcIso(wall);
  const moment = momentOf(text, timeZone) ?? wall;
  if (localIso(moment, timeZone) <= text) return moment;
  // The clock skips this time: the moment at which it is set forward.
  const isForward = (time: number): boolean => localIso(time, timeZone) > text;
  let [before, after] = [moment - day, moment];
  while (after - before > 1_000) {
    const middle = before + Math.floor((after - before) / 2_000) * 1_000;
    if (isForward(middle)) after = middle;
    else before = middle;
  }
  return after;
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

/** The schedules of an event: named intervals as WordPress has them, and cron expressions. */
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
