export type PeriodName = 'day' | 'week' | 'month';

/** Milliseconds since the epoch. */
export interface Period {
  readonly startsAt: number;
  /** Start of the next period. */
  readonly endsAt: number;
}

const hour = 3600_000;

/** The day, week (from Monday) or month that contains a time, in the site's time zone. An unknown time zone counts as UTC. */
export function findPeriod(per: PeriodName, now: number, timezone: string): Period {
  const zone = createZone(timezone);
  const { year, month, day } = zone.date(now);
  // Date carries days beyond the end of a month into the next one.
  const first = per === 'month' ? 1 : per === 'week' ? day - weekdayFor(year, month, day) + 1 : day;
  const [months, days] = per === 'month' ? [1, 0] : per === 'week' ? [0, 7] : [0, 1];
  return { startsAt: zone.midnight(year, month, first), endsAt: zone.midnight(year, month + months, first + days) };
}

/** Hour (0 to 23) and weekday (1 is Monday, 7 is Sunday) of a time in the site's time zone. */
export function localHour(now: number, timezone: string): { readonly hour: number; readonly weekday: number } {
  const { year, month, day, hour: at } = createZone(timezone).date(now);
  return { hour: at, weekday: weekdayFor(year, month, day) };
}

function weekdayFor(year: number, month: number, day: number): number {
  return new Date(Date.UTC(year, month - 1, day)).getUTCDay() || 7;
}

/** Wall-clock times of a time zone; an unknown one counts as UTC. */
export function createZone(timezone: string) {
  const format = formatter(timezone);
  const date = (time: number) => {
    const parts = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, Number(value)]));
    return {
      year: parts['year'] ?? 0,
      month: parts['month'] ?? 0,
      day: parts['day'] ?? 0,
      hour: parts['hour'] ?? 0,
      minute: parts['minute'] ?? 0,
      second: parts['second'] ?? 0,
    };
  };
  /** Offset from UTC at that time, in milliseconds. */
  const offset = (time: number): number => {
    const { year, month, day, hour: at, minute, second } = date(time);
    return Date.UTC(year, month - 1, day, at, minute, second) - Math.floor(time / 1000) * 1000;
  };
  return {
    date,
    offset,
    /** Start of a date. If a clock change skips midnight, the time of the change. */
    midnight(year: number, month: number, day: number): number {
      const wall = Date.UTC(year, month - 1, day);
      const candidates = [wall - offset(wall - 14 * hour), wall - offset(wall + 14 * hour)].sort(
        (left, right) => left - right,
      );
      return candidates.find((time) => time + offset(time) >= wall) ?? wall;
    },
  };
}

const formatters = new Map<string, Intl.DateTimeFormat>();

function formatter(timezone: string): Intl.DateTimeFormat {
  const known = formatters.get(timezone);
  if (known !== undefined) return known;
  const init = {
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  } as const;
  let created: Intl.DateTimeFormat;
  try {
    created = new Intl.DateTimeFormat('en-US', { ...init, timeZone: timezone });
  } catch {
    created = new Intl.DateTimeFormat('en-US', { ...init, timeZone: 'UTC' });
  }
  formatters.set(timezone, created);
  return created;
}
