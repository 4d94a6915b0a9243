/** Answers the local day, `YYYY-MM-DD`, of a moment in milliseconds since the epoch. An unknown time zone counts as UTC. */
export function localDay(timezone: string): (time: number) => string {
  const format = formatter(timezone);
  return (time) => format.format(time);
}

// Making one takes as long as a statement of the database; a site has one time zone, rarely two.
const formatters = new Map<string, Intl.DateTimeFormat>();

function formatter(timeZone: string): Intl.DateTimeFormat {
  const known = formatters.get(timeZone);
  if (known !== undefined) return known;
  const made = make(timeZone);
  formatters.set(timeZone, made);
  return made;
}

function make(timeZone: string): Intl.DateTimeFormat {
  // Sweden writes dates as ISO 8601 does.
  try {
    return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' });
  } catch {
    return new Intl.DateTimeFormat('sv-SE', { timeZone: 'UTC', dateStyle: 'short' });
  }
}
