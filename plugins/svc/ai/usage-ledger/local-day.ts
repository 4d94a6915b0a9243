/** Answers the local day, `YYYY-MM-DD`, of a moment in milliseconds since the epoch. An unknown time zone counts as UTC. */
export function localDay(timezone: string): (time: number) => string {
  const format = formatter(timezone);
  return (time) => format.format(time);
}

function formatter(timeZone: string): Intl.DateTimeFormat {
  // Sweden writes dates as ISO 8601 does.
  try {
    return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' });
  } catch {
    return new Intl.DateTimeFormat('sv-SE', { timeZone: 'UTC', dateStyle: 'short' });
  }
}
