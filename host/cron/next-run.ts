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
 * The first time after `after` at which the expression matches, in UTC.
 *
 * @param after milliseconds since the epoch.
 * @returns milliseconds since the epoch, or null when it never matches (30 February).
 */
export function nextMatch(expression: string, after: number): number | null {
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
