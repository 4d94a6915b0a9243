/** By time zone: creating a format takes as long as a database statement, and a site has one time zone, rarely two. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timezone: string): Intl.DateTimeFormat {
  const known = formats.get(timezone);
  if (known !== undefined) return known;
  // Swedish dates have the format of ISO 8601.
  const create = (timeZone: string) =>
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  let format: Intl.DateTimeFormat;
  try {
    format = create(timezone);
  } catch {
    format = create('UTC');
  }
  formats.set(timezone, format);
  return format;
}

/**
 * `2026-11-20T10:00:52`, the local time of a moment without an offset, the date format of REST.
 *
 * @param timezone IANA name; an unknown one counts as UTC.
 */
export function localIso(moment: number, timezone: string): string {
  return formatOf(timezone).format(moment).padStart(19, '0').replace(' ', 'T');
}

/** `2026-11-20`, the local day of a moment. */
export function localDay(moment: number, timezone: string): string {
  return localIso(moment, timezone).slice(0, 10);
}

/** `2026-11-20T10:00`, the format of `datetime-local` fields. */
export function localMinute(moment: number, timezone: string): string {
  return localIso(moment, timezone).slice(0, 16);
}

/** Offset of the time zone from UTC in milliseconds. */
export function zoneOffset(moment: number, timezone: string): number {
  return Date.parse(`${localIso(moment, timezone)}Z`) - Math.floor(moment / 1000) * 1000;
}

/** `2026-11-20T10:00:52` in UTC. */
export function utcIso(moment: number): string {
  return new Date(moment).toISOString().slice(0, 19);
}

/**
 * Parses a date. Without an offset or `Z` it is local time in the zone. A time in the hour that daylight saving skips counts
 * as if the clock had not changed; of a time that comes twice, the first counts. Null: not a date.
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
  if (Number.isNaN(asUtc) || offset !== undefined) return Number.isNaN(asUtc) ? null : asUtc;
  // The offset is that of a day before or after. One of them matches, except in the hour that is skipped.
  const [before, after] = [-1, 1].map((days) => asUtc - zoneOffset(asUtc + days * 86_400_000, timezone)) as [
    number,
    number,
  ];
  return localIso(after, timezone) === utcIso(asUtc) && localIso(before, timezone) !== utcIso(asUtc) ? after : before;
}

/** When a day, `2026-11-20`, begins; NaN for another text. If clocks skip midnight, the first moment after it. */
export function startOfDay(day: string, timezone: string): number {
  return momentOf(day, timezone) ?? Number.NaN;
}
