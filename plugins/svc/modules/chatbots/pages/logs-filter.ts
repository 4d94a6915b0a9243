import { localDay } from '../../../kit/local-day.ts';
import type { LogFilter } from '../conversations/search/log-filter.ts';

/** What the page's form holds; empty texts: no filter. */
export interface LogsQuery {
  readonly bot: string;
  readonly user: string;
  readonly text: string;
  /** First and last day, `YYYY-MM-DD`, as the site counts days. */
  readonly from: string;
  readonly to: string;
  readonly feedback: string;
  /** `guests` or `users`. */
  readonly who: string;
}

const longest = 200;
const feedbacks = ['up', 'down', 'any'] as const;

/** Reads an address or a form. Whatever cannot be a filter is left out, so that any address shows a page. */
export function readLogsQuery(given: Readonly<Record<string, unknown>>): LogsQuery {
  const text = (name: string): string => {
    const value = given[name];
    return typeof value === 'string' ? value.trim().slice(0, longest) : '';
  };
  const oneOf = (name: string, known: readonly string[]): string => (known.includes(text(name)) ? text(name) : '');
  const bot = text('bot');
  const [from, to] = [parseDay(text('from')), parseDay(text('to'))];
  const inOrder = from === '' || to === '' || from <= to;
  return {
    bot: /^[1-9]\d{0,8}$/.test(bot) ? bot : '',
    user: text('user'),
    text: text('text'),
    from: inOrder ? from : to,
    to: inOrder ? to : from,
    feedback: oneOf('feedback', feedbacks),
    who: oneOf('who', ['guests', 'users']),
  };
}

function parseDay(text: string): string {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(`${text}T00:00:00Z`)) ? text : '';
}

export interface LogFilterContext {
  readonly timezone: string;
  readonly usersLike: (text: string) => Promise<ReadonlySet<number> | undefined>;
}

/** The filter that a form stands for. */
export async function toLogFilter(
  { bot, user, text, from, to, feedback, who }: LogsQuery,
  { timezone, usersLike }: LogFilterContext,
): Promise<LogFilter> {
  return {
    ...(bot !== '' && { botId: Number(bot) }),
    userIds: await usersLike(user),
    ...(text !== '' && { text }),
    ...(from !== '' && { from: Math.ceil(startOfDay(from, timezone) / 1000) }),
    ...(to !== '' && { to: Math.ceil(startOfDay(addDays(to, 1), timezone) / 1000) - 1 }),
    ...(feedback !== '' && { feedback: feedbacks.find((one) => one === feedback) }),
    ...(who !== '' && { guest: who === 'guests' }),
  };
}

export function addDays(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * 24 * 3_600_000).toISOString().slice(0, 10);
}

/** When a day of the site begins, in milliseconds since the epoch: its border is where its name first appears. */
function startOfDay(day: string, timezone: string): number {
  const nameOf = localDay(timezone);
  const midnight = Date.parse(`${day}T00:00:00Z`);
  // Clocks are at most 14 hours ahead of UTC and 12 behind.
  let [before, after] = [midnight - 15 * 3_600_000, midnight + 15 * 3_600_000];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (nameOf(middle) < day) before = middle;
    else after = middle;
  }
  return after;
}

/** The filter as parameters of an address, without those that say nothing. */
export function queryText(query: LogsQuery, more: Readonly<Record<string, string>> = {}): string {
  return new URLSearchParams(Object.entries({ ...query, ...more }).filter(([, value]) => value !== '')).toString();
}
