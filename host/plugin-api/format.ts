import { currentLanguage, currentLocale, translateText } from './language.ts';

/** Milliseconds since the epoch, ISO 8601 text or a Date. */
export type Instant = number | string | Date;

/** `date`: 3 Dec 2026. `dateTime`: 3 Dec 2026, 14:05. `time`: 14:05:09. `day`: Thursday, 3 December. `shortDay`: 3 Dec. */
export type DateStyle = keyof typeof dateStyles;

const dateStyles = {
  date: { day: 'numeric', month: 'short', year: 'numeric' },
  dateTime: { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  time: { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
  day: { weekday: 'long', day: 'numeric', month: 'long' },
  shortDay: { day: 'numeric', month: 'short' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

const dateFormats = new Map<string, Intl.DateTimeFormat>();

/**
 * Formats a moment for people, for example `3 Dec 2026, 14:05`.
 *
 * @param instant anything that is not an {@link Instant} returns an empty text.
 * @param timeZone IANA name; an unknown one counts as UTC.
 */
export function formatDate(instant: unknown, style: DateStyle, timeZone: string): string {
  if (typeof instant !== 'number' && typeof instant !== 'string' && !(instant instanceof Date)) return '';
  const date = new Date(instant satisfies Instant);
  return Number.isNaN(date.getTime()) ? '' : dateFormat(style, timeZone).format(date);
}

function dateFormat(style: DateStyle, timeZone: string): Intl.DateTimeFormat {
  const locale = currentLocale();
  const key = `${style} ${timeZone} ${locale}`;
  let format = dateFormats.get(key);
  if (!format) {
    try {
      format = new Intl.DateTimeFormat(locale, { ...dateStyles[style], timeZone });
    } catch {
      format = new Intl.DateTimeFormat(locale, { ...dateStyles[style], timeZone: 'UTC' });
    }
    dateFormats.set(key, format);
  }
  return format;
}

/** By locale and digits. Created on first use: it costs some 30 ms, which start should not pay. */
const numberFormats = new Map<string, Intl.NumberFormat>();

function numberFormat(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const locale = currentLocale();
  const {
    currency = '',
    style = '',
    notation = '',
    minimumFractionDigits: least,
    maximumFractionDigits: most,
  } = options;
  const key = [locale, currency, style, notation, least, most].join(' ');
  let format = numberFormats.get(key);
  if (!format) numberFormats.set(key, (format = new Intl.NumberFormat(locale, options)));
  return format;
}

/** `12345.5` -> `12,345.5`. Returns a value that is not a number as text. */
export function formatNumber(value: unknown): string {
  return typeof value === 'number' || (typeof value === 'string' && value.trim() !== '' && !Number.isNaN(Number(value)))
    ? numberFormat({ maximumFractionDigits: 3 }).format(Number(value))
    : String(value ?? '');
}

/** A count with its noun: `1 conversation`, `1,204 conversations`. @param many the plural where it is not `one` + s. */
export function formatCount(count: unknown, one: string, many = `${one}s`): string {
  const translated = currentLanguage()?.findPlural(`{count} ${one}`, Number(count));
  return (translated ?? `{count} ${Number(count) === 1 ? one : many}`).replace('{count}', () => formatNumber(count));
}

const shortUnits = [
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
] as const;

/** Three digits and a unit: `1.02M`, `340k`, `12`, in other languages as they write it. For charts and tiles. */
export function formatShortNumber(value: number): string {
  if (currentLanguage() !== undefined)
    return numberFormat({ notation: 'compact', maximumSignificantDigits: 3 }).format(value);
  const [unit, letter] = shortUnits.find(([size]) => value >= size) ?? [1, ''];
  return `${formatNumber(Number((value / unit).toPrecision(3)))}${letter}`;
}

function moneyFormat(least: number, most: number): Intl.NumberFormat {
  const currency = { style: 'currency', currency: 'usd', currencyDisplay: 'narrowSymbol' } as const;
  return numberFormat({ ...currency, minimumFractionDigits: least, maximumFractionDigits: most });
}

/**
 * `$1,204.50`, `$0.0021`: small amounts show as many digits as they need, and those below a millionth are `<$0.000001`, not
 * nothing. @param micro millionths of a US dollar.
 */
export function formatMoney(micro: number): string {
  if (micro === 0) return moneyFormat(0, 0).format(0);
  if (micro > 0 && micro < 1) return `<${formatMoney(1)}`;
  const amount = micro / 1_000_000;
  const digits = amount >= 1 ? 2 : Math.min(6, Math.max(2, 1 - Math.floor(Math.log10(amount))));
  return moneyFormat(2, digits).format(amount);
}

/** A price in full: `$5`, `$0.20`, `$0.0375`. @param dollars US dollars; up to six decimals are shown. */
export function formatPrice(dollars: number): string {
  const least = Number.isInteger(dollars) ? 0 : 2;
  return moneyFormat(least, 6).format(dollars);
}

/** For tables and tiles. @param milliseconds 0 or more: `340 ms`, `2.4 s`, `3 min`, `5 h`, `2 d`. */
export function formatDuration(milliseconds: unknown): string {
  const value = Number(milliseconds);
  if (!Number.isFinite(value)) return '';
  if (value < 1_000) return `${String(Math.round(value))} ms`;
  if (value < 60_000) return `${formatNumber(Math.round(value / 100) / 10)} s`;
  if (value < 3_600_000) return `${String(Math.round(value / 60_000))} min`;
  return value < 48 * 3_600_000
    ? `${String(Math.round(value / 3_600_000))} h`
    : `${String(Math.round(value / 86_400_000))} d`;
}

const waitUnits = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1_000, 'second'],
] as const;

function countUnits(milliseconds: number): readonly [count: number, unit: string] {
  const [size, unit] = waitUnits.find(([size]) => milliseconds >= size) ?? [1_000, 'second'];
  return [Math.max(1, Math.ceil(milliseconds / size)), unit];
}

/** A duration in words, such as `3 minutes`. Rounds up. @param milliseconds 0 or more; at least `1 second` is returned. */
export function formatWait(milliseconds: number): string {
  return formatCount(...countUnits(milliseconds));
}

/**
 * `in 3 minutes`, for errors such as "Try again in 3 minutes." English: as a part of an error it is translated with it, for each
 * reader. Rounds up, so that a retry is never too early.
 *
 * @param milliseconds 0 or more; at least `in 1 second` is returned.
 */
export function formatRetryTime(milliseconds: number): string {
  const [count, unit] = countUnits(milliseconds);
  return `in ${count.toLocaleString('en')} ${unit}${count === 1 ? '' : 's'}`;
}

const byteUnits = ['bytes', 'KB', 'MB', 'GB'] as const;

/** @param percent `89.94` -> `89.9%`, in other languages as they write it */
export function formatPercent(percent: number): string {
  return numberFormat({ style: 'percent', maximumFractionDigits: 1 }).format(percent / 100);
}

/** `512 bytes`, `1.5 MB`; a KB is 1,024 bytes. */
export function formatBytes(bytes: number): string {
  const power = Math.min(byteUnits.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1_024 ** power;
  const text = `${formatNumber(power === 0 ? value : Math.round(value * 10) / 10)} ${byteUnits[power] ?? 'bytes'}`;
  return power === 0 ? translateText(text) : text;
}

/** The text with a period, unless it ends a sentence already: for messages of others before a sentence. */
export function endSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
