/** `2026-11-21T10:05`, as fields of the type `datetime-local` write it, in the site's time zone. */
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

/** Milliseconds since the epoch of a local minute, or null where it is none. Where clocks are put back, the first of the two. */
export function readLocalMinute(text: string, timezone: string): number | null {
  const asUtc = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(text) ? Date.parse(`${text}:00Z`) : Number.NaN;
  if (Number.isNaN(asUtc)) return null;
  // The zone's distance from UTC is that of a day before or after: one of both is right, but for the hour that is skipped.
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
  let made: Intl.DateTimeFormat;
  try {
    made = new Intl.DateTimeFormat('en-CA', { ...options, timeZone: timezone });
  } catch {
    made = new Intl.DateTimeFormat('en-CA', { ...options, timeZone: 'UTC' });
  }
  formatters.set(timezone, made);
  return made;
}
