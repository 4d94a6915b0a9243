import { h } from '../../../../kit/browser/dom.ts';

/** Locale of dates in a language; without one, that of the browser. English dates have the day first: "Monday, 23 November". */
export function localeOf(language: string): string {
  const wanted = language || navigator.language;
  try {
    return /^en\b/i.test(wanted) ? 'en-GB' : (Intl.getCanonicalLocales(wanted)[0] ?? 'en-GB');
  } catch {
    return 'en-GB';
  }
}

/** The time of day, with the whole date as its title. */
export function createTime(milliseconds: number, locale: string): HTMLElement {
  const date = new Date(milliseconds);
  return h(
    'time',
    { datetime: date.toISOString(), title: date.toLocaleString(locale) },
    date.toLocaleTimeString(locale, { hour: '2-digit', minute: '2-digit' }),
  );
}

/** A line above the first message of a day: `Today`, `Yesterday`, `Monday, 23 November`. */
export function createDayLine(milliseconds: number, locale: string): HTMLElement {
  const date = new Date(milliseconds);
  const days = Math.round((startOfDay(new Date()) - startOfDay(date)) / 86_400_000);
  const label =
    days >= 0 && days < 2
      ? new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(-days, 'day')
      : formatDay(date, locale);
  return h('li', { class: 'day' }, h('span', {}, label.charAt(0).toLocaleUpperCase(locale) + label.slice(1)));
}

/** `Monday, 23 November`, with the time if it is wanted. */
export function formatDay(date: Date, locale: string, time: Intl.DateTimeFormatOptions = {}): string {
  const text = date.toLocaleString(locale, { weekday: 'long', day: 'numeric', month: 'long', ...time });
  // Browsers differ in the comma of English.
  return locale === 'en-GB' ? text.replace(/^(\w+),? /, '$1, ') : text;
}

/** Midnight of the visitor's day. */
export function startOfDay(date: Date): number {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}
