import { createZone } from '../../kit/visitors/period.ts';

/** `2026-11-21T10:05` in the site's time zone, the format of `datetime-local` fields. */
export function localMinute(time: number, timezone: string): string {
  const { year, month, day, hour, minute } = createZone(timezone).date(time);
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}`;
}

/** The day of a time, `YYYY-MM-DD`. */
export function localDay(time: number, timezone: string): string {
  return localMinute(time, timezone).slice(0, 10);
}

/** Milliseconds since the epoch of a local minute, or null if invalid. When clocks are set back, the first of the two. */
export function readLocalMinute(text: string, timezone: string): number | null {
  const asUtc = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(text) ? Date.parse(`${text}:00Z`) : Number.NaN;
  if (Number.isNaN(asUtc)) return null;
  // The UTC offset is that of a day before or after. One of them matches, except in the hour that is skipped.
  const { offset } = createZone(timezone);
  const guesses = [asUtc - offset(asUtc - 86_400_000), asUtc - offset(asUtc + 86_400_000)];
  return guesses.find((guess) => localMinute(guess, timezone) === text) ?? guesses[0] ?? asUtc;
}
