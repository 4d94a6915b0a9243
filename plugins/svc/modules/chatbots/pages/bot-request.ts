import { parseId, requireFound, withNotice, fieldErrorsOf, invalidFields } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import type { Bot } from '../bots/bot.ts';
import { botTrail } from './bot-head.ts';

/** The bot that the URL names, for example `?id=7`. @throws RestError 404 */
export function findBotInQuery(parts: ChatbotParts, { query }: Pick<AdminRequest, 'query'>, name = 'id'): Promise<Bot> {
  return findBot(parts, query[name]);
}

/** The bot that the posted form names. @throws RestError 404 */
export function findBotInForm(parts: ChatbotParts, request: AdminRequest, name = 'id'): Promise<Bot> {
  return findBot(parts, readText(request, name));
}

async function findBot(parts: ChatbotParts, id: unknown): Promise<Bot> {
  return requireFound(await parts.bots.get(parseId(id)), {
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

/** What a button in the list of a bot's rules or forms does. `changes`: none if it is refused. */
export interface PartEdit {
  readonly changes?: Pick<Partial<Bot>, 'rules' | 'forms'>;
  readonly message: string;
}

/** The view of the list of rules or forms of the bot that `?bot=` names. */
export function partListView(
  parts: ChatbotParts,
  template: string,
  view: (parts: ChatbotParts, bot: Bot) => Record<string, unknown>,
): AdminPageBody['render'] {
  return async (request) => {
    const bot = await findBotInQuery(parts, request, 'bot');
    return { template, trail: botTrail(parts.host, bot), data: view(parts, bot) };
  };
}

interface PartList<Part> {
  /** Name of the input with the id of the part, which is also what a notice calls it. */
  readonly name: 'rule' | 'form';
  readonly partsOf: (bot: Bot) => readonly Part[];
  /** The page to return to. */
  readonly slug: string;
}

/** Returns the actions of a list of rules or forms: find the bot and its part, change them, return to the list. */
export function partActions<Part extends { readonly id: string }>(
  parts: ChatbotParts,
  { name, partsOf, slug }: PartList<Part>,
): (
  edit: (bot: Bot, part: Part, request: AdminRequest) => PartEdit,
) => (request: AdminRequest) => Promise<AdminActionResult> {
  return (edit) => async (request) => {
    const bot = await findBotInForm(parts, request, 'bot');
    const redirect = `${slug}?bot=${String(bot.id)}`;
    const part = partsOf(bot).find(({ id }) => id === readText(request, name));
    if (!part) return withNotice('info', `This ${name} was already deleted.`, { redirect });
    const { changes, message } = edit(bot, part, request);
    if (changes) await parts.bots.update(bot.id, changes);
    return withNotice(changes ? 'success' : 'error', message, { redirect });
  };
}
