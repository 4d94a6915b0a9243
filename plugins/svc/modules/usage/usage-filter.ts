import { localDay } from '#plugin-api';
import { shortText } from '../../kit/fold-text.ts';

/** What calls are filtered by, besides the days. */
export const filterNames = [
  'provider',
  'model',
  'module',
  'kind',
  'outcome',
  'sandbox',
  'bot_id',
  'key_id',
  'user_id',
  'plugin',
] as const;

/** Filters by who calls, whose values are ids. */
export const idFilters: readonly FilterName[] = ['bot_id', 'key_id', 'user_id'];
export type FilterName = (typeof filterNames)[number];

/** What sums of calls are grouped by: columns of `svc_usage_days`. */
export const groupings = [
  'day',
  'provider',
  'model',
  'module',
  'kind',
  'outcome',
  'bot_id',
  'key_id',
  'user_id',
  'plugin',
] as const;
export type Grouping = (typeof groupings)[number];

/** Matches every outcome except `ok`. */
export const failed = 'failed';

/** The calls that a page, an export or a command covers. */
export interface UsageFilter {
  /** `today`, `7`, `30`, `90`, or `custom`. */
  readonly period: string;
  /** First and last day, `YYYY-MM-DD`, in the site's time zone. */
  readonly from: string;
  readonly to: string;
  /** Required values. `outcome`: a code, `ok` or `failed`. `sandbox`: `0` or `1`. */
  readonly values: Readonly<Partial<Record<FilterName, string>>>;
}

export const periods = [
  { value: 'today', label: 'Today', days: 1 },
  { value: '7', label: '7 days', days: 7 },
  { value: '30', label: '30 days', days: 30 },
  { value: '90', label: '90 days', days: 90 },
] as const;

const defaultPeriod = '30';
/** Days. */
export const maxPeriod = 400;

/** Reads a filter from a URL or a form. Ignores invalid values, so that any URL shows a page. */
export function readFilter(
  query: Readonly<Record<string, unknown>>,
  { now, timezone }: { readonly now: number; readonly timezone: string },
): UsageFilter {
  const today = localDay(now, timezone);
  const values = Object.fromEntries(
    filterNames.flatMap((name) => {
      const value = shortText(query[name]);
      return value === '' || (idFilters.includes(name) && !/^[1-9]\d{0,14}$/.test(value)) ? [] : [[name, value]];
    }),
  );
  const period = shortText(query['period']);
  const chosen = periods.find(({ value }) => value === period);
  const custom = period === 'custom' ? readDays(query, today) : null;
  if (custom) return { period: 'custom', ...custom, values };
  const { value, days } = chosen ?? periods[2];
  return { period: chosen ? value : defaultPeriod, from: addDays(today, 1 - days), to: today, values };
}

/** The requested days in order, none after today, at most `maxPeriod`. Null if neither is valid. */
function readDays(query: Readonly<Record<string, unknown>>, today: string): Pick<UsageFilter, 'from' | 'to'> | null {
  const given = [shortText(query['from']), shortText(query['to'])].map((day) => (isDay(day) ? day : null));
  if (given[0] === null && given[1] === null) return null;
  const [first = today, last = today] = [given[0] ?? given[1], given[1] ?? today]
    .map((day) => (day !== undefined && day !== null && day < today ? day : today))
    .sort();
  const earliest = addDays(last, 1 - maxPeriod);
  return { from: first > earliest ? first : earliest, to: last };
}

function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && addDays(text, 0) === text;
}

/** The day so many days later, or '' for an invalid day. */
export function addDays(day: string, days: number): string {
  const time = Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(time) ? '' : new Date(time + days * 24 * 3600 * 1000).toISOString().slice(0, 10);
}

/** Every day from the first to the last. */
export function daysOf({ from, to }: Pick<UsageFilter, 'from' | 'to'>): string[] {
  const days: string[] = [];
  for (let day = from; day <= to; day = addDays(day, 1)) days.push(day);
  return days;
}

/** The filter as query parameters. */
export function filterQuery({ period, from, to, values }: UsageFilter): Record<string, string> {
  return { period, ...(period === 'custom' && { from, to }), ...values };
}
