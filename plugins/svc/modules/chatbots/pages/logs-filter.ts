import { startOfDay } from '#plugin-api';
import type { LogFilter } from '../conversations/search/log-query.ts';

/** The filter fields of the page. An empty text is no filter. */
export interface LogsQuery {
  readonly bot: string;
  readonly user: string;
  readonly text: string;
  /** First and last day, `YYYY-MM-DD`, in the site's time zone. */
  readonly from: string;
  readonly to: string;
  readonly feedback: string;
  /** `guests` or `users`. */
  readonly who: string;
}

const maxLength = 200;
const feedbacks = ['up', 'down', 'any'] as const;

/** Reads a query string or a form. Invalid values are ignored, so that any URL shows a page. */
export function readLogsQuery(values: Readonly<Record<string, unknown>>): LogsQuery {
  const text = (name: string): string => {
    const value = values[name];
    return typeof value === 'string' ? value.trim().slice(0, maxLength) : '';
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

/** Converts the fields of the page to a filter of the logs. */
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
