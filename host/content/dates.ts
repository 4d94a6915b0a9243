const formatters = new Map<string, Intl.DateTimeFormat>();

/** Local date and time of a moment in a time zone. */
export interface LocalTime {
  readonly year: string;
  readonly month: string;
  readonly day: string;
  readonly hour: string;
  readonly minute: string;
  readonly second: string;
}

/** @param timezone IANA name; an unknown one counts as UTC. */
export function localTime(moment: number, timezone: string): LocalTime {
  const parts = Object.fromEntries(
    getFormatter(timezone)
      .formatToParts(moment)
      .map(({ type, value }) => [type, value]),
  );
  const read = (name: string): string => parts[name] ?? '00';
  return {
    year: read('year').padStart(4, '0'),
    month: read('month'),
    day: read('day'),
    hour: read('hour'),
    minute: read('minute'),
    second: read('second'),
  };
}

/** `2026-11-20T10:00:52`, without an offset, the date format of REST. */
export function localIso(moment: number, timezone: string): string {
  const { year, month, day, hour, minute, second } = localTime(moment, timezone);
  return `${year}-${month}-${day}T${hour}:${minute}:${second}`;
}

/** `2026-11-20T10:00:52` in UTC. */
export function utcIso(moment: number): string {
  return new Date(moment).toISOString().slice(0, 19);
}

/**
 * Parses a date. Without an offset or `Z` it is local time in the zone. A time in the hour that daylight saving skips counts
 * as if the clock had not changed. Null: not a date.
 */
export function momentOf(text: string, timezone: string): number | null {
  const match = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(?:\.\d+)?\s*(Z|[+-]\d\d(?::?\d\d)?)?)?$/i.exec(
    text.trim(),
  );
  if (match === null) return null;
  const [, day = '', time = '00:00:00', offset] = match;
  const asUtc = Date.parse(
    `${day}T${time}${
      offset === undefined || /^z$/i.test(offset)
        ? 'Z'
        : offset.replace(/^(...):?(\d\d)?$/, (_whole, hours: string, minutes = '00') => `${hours}:${minutes}`)
    }`,
  );
  if (Number.isNaN(asUtc)) return null;
  if (offset !== undefined) return asUtc;
  const first = asUtc - offsetAt(asUtc, timezone);
  const second = asUtc - offsetAt(first, timezone);
  return first === second ? first : Math.max(first, second);
}

/** Offset of the time zone from UTC in milliseconds. */
function offsetAt(moment: number, timezone: string): number {
  return Date.parse(`${localIso(moment, timezone)}Z`) - Math.floor(moment / 1000) * 1000;
}

function getFormatter(timezone: string): Intl.DateTimeFormat {
  const known = formatters.get(timezone);
  if (known !== undefined) return known;
  const style = {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  } as const;
  let formatter: Intl.DateTimeFormat;
  try {
    formatter = new Intl.DateTimeFormat('en-CA', { ...style, timeZone: timezone });
  } catch {
    formatter = new Intl.DateTimeFormat('en-CA', { ...style, timeZone: 'UTC' });
  }
  formatters.set(timezone, formatter);
  return formatter;
}
