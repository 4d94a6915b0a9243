const formatters = new Map<string, Intl.DateTimeFormat>();

/** Year to second of a moment, as a clock in the zone shows them. */
export interface LocalTime {
  readonly year: string;
  readonly month: string;
  readonly day: string;
  readonly hour: string;
  readonly minute: string;
  readonly second: string;
}

/** @param timezone IANA name; one that is unknown counts as UTC. */
export function localTime(moment: number, timezone: string): LocalTime {
  const parts = Object.fromEntries(
    formatterOf(timezone)
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

/** `2026-11-20T10:00:52`, without an offset, as REST writes dates. */
export function localIso(moment: number, timezone: string): string {
  const { year, month, day, hour, minute, second } = localTime(moment, timezone);
  return `${year}-${month}-${day}T${hour}:${minute}:${second}`;
}

/** `2026-11-20T10:00:52` in UTC. */
export function utcIso(moment: number): string {
  return new Date(moment).toISOString().slice(0, 19);
}

/**
 * The moment that a text names: with an offset or `Z` that moment, without one the time of the zone's clock. In the hour
 * that a zone skips the clock counts as if it had not been put forward. Null: no date.
 */
export function momentOf(text: string, timezone: string): number | null {
  const match = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(?:\.\d+)?\s*(Z|[+-]\d\d(?::?\d\d)?)?)?$/i.exec(
    text.trim(),
  );
  if (match === null) return null;
  const [, day = '', time = '00:00:00', offset] = match;
  const asUtc = Date.parse(
    `${day}T${time}${offset === undefined || /^z$/i.test(offset) ? 'Z' : offset.replace(/^(...):?(\d\d)?$/, (_whole, hours: string, minutes = '00') => `${hours}:${minutes}`)}`,
  );
  if (Number.isNaN(asUtc)) return null;
  if (offset !== undefined) return asUtc;
  const first = asUtc - offsetAt(asUtc, timezone);
  const second = asUtc - offsetAt(first, timezone);
  return first === second ? first : Math.max(first, second);
}

/** Milliseconds that the zone's clock is ahead of UTC. */
function offsetAt(moment: number, timezone: string): number {
  return Date.parse(`${localIso(moment, timezone)}Z`) - Math.floor(moment / 1000) * 1000;
}

function formatterOf(timezone: string): Intl.DateTimeFormat {
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
  let made: Intl.DateTimeFormat;
  try {
    made = new Intl.DateTimeFormat('en-CA', { ...style, timeZone: timezone });
  } catch {
    made = new Intl.DateTimeFormat('en-CA', { ...style, timeZone: 'UTC' });
  }
  formatters.set(timezone, made);
  return made;
}
