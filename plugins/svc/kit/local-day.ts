/** Returns a function for the local day, `YYYY-MM-DD`, of a time in milliseconds since the epoch. An unknown time zone counts as UTC. */
export function localDay(timezone: string): (time: number) => string {
  const format = formatter(timezone);
  return (time) => format.format(time);
}

// Creating a format takes as long as a database statement. A site has one time zone, rarely two.
const formatters = new Map<string, Intl.DateTimeFormat>();

function formatter(timeZone: string): Intl.DateTimeFormat {
  const known = formatters.get(timeZone);
  if (known !== undefined) return known;
  const created = create(timeZone);
  formatters.set(timeZone, created);
  return created;
}

function create(timeZone: string): Intl.DateTimeFormat {
  // Swedish dates have the format of ISO 8601.
  try {
    return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' });
  } catch {
    return new Intl.DateTimeFormat('sv-SE', { timeZone: 'UTC', dateStyle: 'short' });
  }
}
