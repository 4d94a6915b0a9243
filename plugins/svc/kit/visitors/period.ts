import { localDay, localIso, startOfDay, utcIso } from '#plugin-api';

export type PeriodName = 'day' | 'week' | 'month';

/** Milliseconds since the epoch. */
export interface Period {
  readonly startsAt: number;
  /** Start of the next period. */
  readonly endsAt: number;
}

/** The day, week (from Monday) or month that contains a time, in the site's time zone. An unknown time zone counts as UTC. */
export function findPeriod(per: PeriodName, now: number, timezone: string): Period {
  const [year = 0, month = 1, day = 1] = localDay(now, timezone).split('-').map(Number);
  // Date carries days beyond the end of a month into the next one.
  const midnight = (months: number, date: number): number =>
    startOfDay(utcIso(Date.UTC(year, month - 1 + months, date)).slice(0, 10), timezone);
  const first = per === 'month' ? 1 : per === 'week' ? day - localHour(now, timezone).weekday + 1 : day;
  const [months, days] = per === 'month' ? [1, 0] : per === 'week' ? [0, 7] : [0, 1];
  return { startsAt: midnight(0, first), endsAt: midnight(months, first + days) };
}

/** Hour (0 to 23) and weekday (1 is Monday, 7 is Sunday) of a time in the site's time zone. */
export function localHour(now: number, timezone: string): { readonly hour: number; readonly weekday: number } {
  const local = localIso(now, timezone);
  return { hour: Number(local.slice(11, 13)), weekday: new Date(`${local}Z`).getUTCDay() || 7 };
}
