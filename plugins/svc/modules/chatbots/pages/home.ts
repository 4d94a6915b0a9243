import { formatCount, formatNumber, formatPercent, localDay, type AdminHome, type HomeContext } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import { readRows } from './log-list.ts';
import { addDays } from './logs-filter.ts';

const logsSlug = 'svc/logs';
const latest = 5;

/** Adds conversations, ratings and the latest conversations to the home page. */
export async function addChatHome(
  parts: ChatbotParts,
  home: AdminHome,
  { user, days }: HomeContext,
): Promise<AdminHome> {
  if (!user.can('manage_options')) return home;
  const { host, logs, bots } = parts;
  if ((await bots.isEmpty()) || (await logs.isEmpty())) return home;
  const timezone = await host.site.timezone();
  const dayOf = (time: number): string => localDay(time, timezone);
  const today = dayOf(host.clock.now());
  const [first, before] = [addDays(today, 1 - days), addDays(today, 1 - 2 * days)];
  const perDay = await logs.perDay({ from: startOf(before) }, dayOf);
  const points = Array.from({ length: days }, (_, index) => perDay.get(addDays(first, index)) ?? 0);
  const earlier = Array.from({ length: days }, (_, index) => perDay.get(addDays(before, index)) ?? 0);
  const { ids } = await logs.find({}, { offset: 0, limit: latest });
  const rows = await readRows(parts, { ids });
  return {
    ...home,
    tiles: [
      ...home.tiles,
      {
        label: 'Conversations',
        value: formatNumber(sum(points)),
        href: `${logsSlug}?from=${first}&to=${today}`,
        change: { now: sum(points), before: sum(earlier) },
        points,
      },
      await ratingTile(parts, startOf(first)),
    ],
    lists: [
      ...home.lists,
      {
        title: 'Latest conversations',
        href: logsSlug,
        empty: 'No conversations yet.',
        items: rows.map((row) => ({
          title: String(row['beginning']),
          href: String(row['href']),
          note: `${String(row['person'])} with ${String(row['bot'])}`,
          at: Number(row['time']),
        })),
      },
    ],
  };
}

/** Seconds. A few hours early, because the time zone is not known: days are counted by `dayOf`. */
function startOf(day: string): number {
  return Math.floor(Date.parse(`${day}T00:00:00Z`) / 1000) - 15 * 3600;
}

async function ratingTile({ logs }: ChatbotParts, from: number): Promise<AdminHome['tiles'][number]> {
  const count = async (feedback: 'up' | 'down'): Promise<number> =>
    (await logs.find({ feedback, from }, { offset: 0, limit: 1 })).total;
  const [liked, disliked] = await Promise.all([count('up'), count('down')]);
  const total = liked + disliked;
  return {
    label: 'Conversations rated good',
    value: total === 0 ? '–' : formatPercent(Math.round((100 * liked) / total)),
    note: total === 0 ? 'No ratings' : `of ${formatCount(total, 'rating')}`,
    href: `${logsSlug}?feedback=${disliked > 0 ? 'down' : 'any'}`,
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
