import { RestError, type AdminRequest } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { textOf } from '../../../settings/page/form-values.ts';
import type { Bot } from '../bots/bot.ts';
import { chatbotsOf } from '../chatbots.ts';

/** The bot that an address is about: `?id=7`. @throws RestError 404 */
export function botOfQuery(context: ServiceContext, { query }: Pick<AdminRequest, 'query'>, name = 'id'): Promise<Bot> {
  return botOf(context, query[name]);
}

/** The bot that a form is about. @throws RestError 404 */
export function botOfForm(context: ServiceContext, request: AdminRequest, name = 'id'): Promise<Bot> {
  return botOf(context, textOf(request, name));
}

async function botOf(context: ServiceContext, id: unknown): Promise<Bot> {
  const bot = typeof id === 'string' && /^\d{1,10}$/.test(id) ? await chatbotsOf(context).bots.get(Number(id)) : null;
  if (bot === null)
    throw new RestError({
      code: 'rest_svc_bot_not_found',
      status: 404,
      message: 'There is no such chatbot. It may have been deleted; the page Chatbots lists those there are.',
    });
  return bot;
}
