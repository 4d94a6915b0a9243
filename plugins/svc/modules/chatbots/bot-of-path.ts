import type { RestRequest } from '#plugin-api';
import { errors } from '../../kit/errors.ts';
import type { Bot, BotStore } from './bots/bot.ts';

/**
 * The active bot that the path names. A body or a query that names another one does not count, though the host puts them
 * before the path.
 *
 * @throws RestError 404 `rest_svc_bot_not_found` where there is none, or it is inactive
 */
export async function botOfPath({ url }: Pick<RestRequest, 'url'>, bots: Pick<BotStore, 'get'>): Promise<Bot> {
  const id = String(url['bot_id']);
  const bot = /^\d{1,15}$/.test(id) ? await bots.get(Number(id)) : null;
  if (bot === null || bot.status !== 'active') throw errors.bot_not_found({ values: { id: id.slice(0, 40) } });
  return bot;
}
