import { toUsualDate } from './unusual-date.ts';

/** Minutes east of UTC of zones that feeds name and `Date.parse` does not know. Those that name several are left out. */
const zones: Readonly<Record<string, number>> = {
  ...{ wet: 0, west: 60, bst: 60, cet: 60, met: 60, cest: 120, mest: 120, mesz: 120, mez: 60, eet: 120, eest: 180 },
  ...{ msk: 180, msd: 240, ist: 330, hkt: 480, sgt: 480, awst: 480, jst: 540, kst: 540, acst: 570, aest: 600 },
  ...{
    aedt: 660,
    nzst: 720,
    nzdt: 780,
    brt: -180,
    nst: -210,
    ast: -240,
    adt: -180,
    akst: -540,
    akdt: -480,
    hst: -600,
    at: -240,
    et: -300,
  },
};

const earliest = Date.UTC(1900, 0);
const latest = Date.UTC(3000, 0);
/** Characters. What is longer is no date. */
const longest = 200;
const firstYear = Date.parse('0001-01-01T00:00:00Z');

/**
 * The time of a date as feeds write it (RFC 822, ISO 8601 and their relatives), in milliseconds since the epoch; null without
 * one. A date without a time zone is in UTC, so that it does not depend on this machine.
 */
export function parseDate(given: string): number | null {
  return given.length > longest ? null : parse(toUsualDate(given), firstYear);
}

/**
 * As `parseDate`, without the forms that few feeds write and years before 1900. Ids of entries are made of it, which must stay
 * what they are when more forms are read.
 */
export function parseUsualDate(given: string): number | null {
  return given.length > longest ? null : parse(given, earliest);
}

function parse(given: string, from: number): number | null {
  // The day of the week says nothing new, and may be in any language.
  const text = given.trim().replace(/^\p{L}+\.?,?\s+(?=\d)/u, '');
  if (text === '') return null;
  const etc = /^(.*\d)\s*Etc\/GMT(?:([+-])(\d{1,2}))?$/i.exec(text);
  if (etc) return shift(toTime(asUtc(etc[1] ?? ''), from), (etc[2] === '+' ? -60 : 60) * Number(etc[3] ?? 0));
  const named = /^(.*\d)\s*\(?([a-z]{2,4})\)?$/i.exec(text);
  const offset = named ? zones[(named[2] ?? '').toLowerCase()] : undefined;
  if (offset !== undefined) return shift(toTime(asUtc(named?.[1] ?? ''), from), offset);
  const hasZone = /(?:z|ut|utc|gmt|[ecmp][sd]t|[+-]\d{1,2}:?\d{2})\s*(?:\([^)]*\))?$/i.test(text) && /\d:\d/.test(text);
  return toTime(hasZone ? text : asUtc(text), from);
}

const shift = (time: number | null, minutes: number): number | null => (time === null ? null : time - minutes * 60_000);

function asUtc(text: string): string {
  if (!/\d:\d/.test(text)) return `${text} UTC`;
  return /^\d{4}-\d\d-\d\dT/.test(text) ? `${text}Z` : `${text} UTC`;
}

function toTime(text: string, from: number): number | null {
  const time = Date.parse(text);
  // Numbers that are no dates become years far away.
  return time >= from && time < latest ? time : null;
}
