import { normalizeText } from '#plugin-api';

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

/** Languages whose names of months feeds write. */
const languages = ['de', 'fr', 'es', 'it', 'pt', 'nl', 'el', 'hu', 'pl', 'cs', 'sv', 'da', 'fi', 'ru', 'uk'];
const english = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;
const englishMonth = new RegExp(`\\b(?:${english.join('|')})\\b`, 'i');

/**
 * Rewrites a date in a form that few feeds write, so that `parseDate` reads it like any other: short forms of ISO 8601, names of
 * months in other languages, and dates in Korean, which has one time zone.
 *
 * @returns the date itself if it is in no such form; '' for a number that is no date
 */
function toUsualDate(given: string): string {
  const text = given.trim().replace(/\s+/g, ' ');
  return fromDigits(text) ?? fromKorean(text) ?? withEnglishMonths(text);
}

/** Forms of ISO 8601 that `Date.parse` does not know, or takes for another date. */
function fromDigits(text: string): string | null {
  const [, date = '', time = ''] = /^([-\d]+)(?:T(.*))?$/.exec(text) ?? [];
  const calendar = calendarDate(date);
  if (calendar !== null) return time === '' ? calendar : `${calendar}T${withColons(time)}`;
  return /^\d+$/.test(text) && text.length !== 4 ? '' : null;
}

function calendarDate(date: string): string | null {
  const [, year, month, day] =
    /^(\d{4})(\d\d)(\d\d)$/.exec(date) ??
    // The month has a zero too many.
    /^(\d{4})-0(\d\d)-(\d\d)$/.exec(date) ??
    /^(\d\d)-(\d\d)-(\d\d)$/.exec(date) ??
    /^(\d\d)(\d\d)(\d\d)$/.exec(date) ??
    /^-(\d\d)-?(\d\d)$/.exec(date) ??
    [];
  if (year !== undefined && Number(month) <= 12 && Number(day ?? 1) <= 31)
    return [fullYear(year), month, ...(day === undefined ? [] : [day])].join('-');
  // Five digits without a zero in front may be a year far away.
  const [, ordinalYear, dayOfYear = ''] =
    /^(\d{4})-?(\d{3})$/.exec(date) ?? /^(0\d)(\d{3})$/.exec(date) ?? /^(\d\d)-(\d{3})$/.exec(date) ?? [];
  if (ordinalYear === undefined || Number(dayOfYear) < 1 || Number(dayOfYear) > 366) return null;
  return new Date(Date.UTC(Number(fullYear(ordinalYear)), 0, Number(dayOfYear))).toISOString().slice(0, 10);
}

/** The year of two digits as RFC 5322 reads it. */
const fullYear = (year: string): string => (year.length === 4 ? year : `${Number(year) < 50 ? '20' : '19'}${year}`);

const withColons = (time: string): string =>
  time.replace(/^\d{4}(?:\d\d)?/, (digits) => (digits.match(/\d\d/g) ?? []).join(':'));

const korean = /^(\d{4})(?:년 ?|-)(\d{1,2})(?:월 ?|-)(\d{1,2})일?(?: (오전|오후))?(?: (\d{1,2})(:\d\d(?::\d\d)?))?$/;

/** `2004년 05월 28일 01:31:15` and `2004-05-25 오후 11:23:17`. */
function fromKorean(text: string): string | null {
  if (!/[년월일]|오[전후]/.test(text)) return null;
  const [, year, month = '', day = '', half, hour = '0', rest = ':00'] = korean.exec(text) ?? [];
  if (year === undefined) return null;
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (half === '오후' ? 12 : 0);
  return `${year}-${twoDigits(month)}-${twoDigits(day)}T${twoDigits(hours)}${rest}+09:00`;
}

const twoDigits = (value: string | number): string => String(value).padStart(2, '0');

function withEnglishMonths(text: string): string {
  const written = englishMonth.test(text)
    ? text
    : text.replace(/\p{L}{3,}\.?/gu, (word) => english[monthOf(word) ?? -1] ?? word);
  return (
    written
      // `3. März 2026`, `3 de julio de 2026`
      .replace(/^(\d{1,2})(?:\.|\s+de)\s+([A-Z][a-z]{2})\s+(?:de\s+)?/, '$1 $2 ')
      // The year first, as in Hungarian.
      .replace(/^\d{4}-[A-Z][a-z]{2}-\d{1,2}(?:T\d{1,2}(?=:))?/, (date) => {
        const [year = '', month = '', day = '', hour] = date.split(/[-T]/);
        const numbers = [year, twoDigits(english.findIndex((name) => name === month) + 1), twoDigits(day)].join('-');
        return hour === undefined ? numbers : `${numbers}T${twoDigits(hour)}`;
      })
      .replace(/^(\d{4}-\d\d-\d\dT[\d:.]+)\s+(?=[+-])/, '$1')
  );
}

/** The month, from 0, that a word or its beginning names in one of the languages, otherwise in English; null for other words. */
function monthOf(word: string): number | null {
  const folded = fold(word);
  monthNames ??= readMonthNames();
  const found = new Set<number>();
  for (const [name, month] of monthNames) if (name.startsWith(folded)) found.add(month);
  const [month] = found;
  if (found.size === 1 && month !== undefined) return month;
  const index = english.findIndex((name) => folded.startsWith(name.toLowerCase()));
  return index === -1 ? null : index;
}

let monthNames: readonly (readonly [name: string, month: number])[] | undefined;

function readMonthNames(): (readonly [string, number])[] {
  return languages.flatMap((language) =>
    (['long', 'short'] as const).flatMap((month) =>
      // With a day, many languages have the genitive.
      [{}, { day: 'numeric' } as const].flatMap((day) => {
        const format = new Intl.DateTimeFormat(language, { month, ...day, timeZone: 'UTC' });
        return english.map((_name, index) => [fold(monthIn(format, index)), index] as const);
      }),
    ),
  );
}

const monthIn = (format: Intl.DateTimeFormat, month: number): string =>
  format.formatToParts(Date.UTC(2026, month, 15)).find(({ type }) => type === 'month')?.value ?? '';

/** Without accents, case and full stops. */
const fold = (word: string): string =>
  normalizeText(word, 'NFD')
    .replace(/[\p{M}.]/gu, '')
    .toLowerCase();
