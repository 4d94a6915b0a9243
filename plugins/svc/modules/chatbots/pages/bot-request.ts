import { requireFound, type AdminRequest } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import type { Bot } from '../bots/bot.ts';
import { fieldErrorsOf, invalidFields } from '../../../kit/field-errors.ts';

/** The bot that the URL names, for example `?id=7`. @throws RestError 404 */
export function findBotInQuery(parts: ChatbotParts, { query }: Pick<AdminRequest, 'query'>, name = 'id'): Promise<Bot> {
  return findBot(parts, query[name]);
}

/** The bot that the posted form names. @throws RestError 404 */
export function findBotInForm(parts: ChatbotParts, request: AdminRequest, name = 'id'): Promise<Bot> {
  return findBot(parts, readText(request, name));
}

async function findBot(parts: ChatbotParts, id: unknown): Promise<Bot> {
  return requireFound(typeof id === 'string' && /^\d{1,10}$/.test(id) ? await parts.bots.get(Number(id)) : null, {
    code: 'rest_svc_bot_not_found',
    status: 404,
    message: 'This chatbot does not exist. It may have been deleted. The page Chatbots lists all chatbots.',
  });
}

/**
 * Saves a part of a bot. Errors of that part are reported relative to `path`; others keep their whole path.
 *
 * @param path of the part, for example `rules[3]`.
 */
export async function saveBotPart<Result>(path: string, save: () => Promise<Result>): Promise<Result> {
  try {
    return await save();
  } catch (error) {
    const errors = fieldErrorsOf(error);
    if (!errors) throw error;
    throw invalidFields(
      Object.fromEntries(
        Object.entries(errors).map(([name, sentence]) =>
          name.startsWith(`${path}.`)
            ? [name.slice(path.length + 1), sentence.replace(`${path}.`, '')]
            : [name, sentence],
        ),
      ),
    );
  }
}
