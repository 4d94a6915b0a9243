/** `2026-11-21T10:05` in the site's time zone, the format of `datetime-local` fields. */
export function localMinute(time: number, timezone: string): string {
  const parts = Object.fromEntries(
    formatter(timezone)
      .formatToParts(time)
      .map(({ type, value }) => [type, value]),
  );
  return `${parts['year']}-${parts['month']}-${parts['day']}T${parts['hour']}:${parts['minute']}`;
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
  const guesses = [asUtc - offset(asUtc - 86_400_000, timezone), asUtc - offset(asUtc + 86_400_000, timezone)];
  return guesses.find((guess) => localMinute(guess, timezone) === text) ?? guesses[0] ?? asUtc;
}

function offset(time: number, timezone: string): number {
  return Date.parse(`${localMinute(time, timezone)}:00Z`) - Math.floor(time / 60_000) * 60_000;
}

const formatters = new Map<string, Intl.DateTimeFormat>();

function formatter(timezone: string): Intl.DateTimeFormat {
  const known = formatters.get(timezone);
  if (known) return known;
  const options = {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  } as const;
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-CA', { ...options, timeZone: timezone });
  } catch {
    format = new Intl.DateTimeFormat('en-CA', { ...options, timeZone: 'UTC' });
  }
  formatters.set(timezone, format);
  return format;
}
