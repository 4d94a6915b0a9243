import { RestResponse, type RestRequest } from '#plugin-api';
import type { ChatbotParts } from './chatbots.ts';
import { responseHeaders } from '../../kit/response-headers.ts';
import { callerOf, requireScopes } from '../../kit/caller.ts';
import { errors } from '../../kit/errors.ts';
import { restOrigin } from '../../kit/usage-origin.ts';
import { checkMessages } from '../../kit/messages.ts';
import type { Bot, BotStore } from './bots/bot.ts';
import type { ChatParams } from './chat-message.route.ts';
import { checkConversation, saveTurn } from './reply/save-turn.ts';

type AnswerChatParts = Pick<ChatbotParts, 'host' | 'bots' | 'conversations' | 'reply'>;

/** Handles `POST /chat/{bot_id}/message`. @param path route, for the usage ledger */
export async function answerChat(
  request: RestRequest<ChatParams>,
  { parts, path }: { readonly parts: AnswerChatParts; readonly path: string },
): Promise<RestResponse> {
  const { messages, stream, conversation_uuid: uuid } = request.params;
  if (stream === true) throw errors.streaming_not_supported();
  const { bots, conversations, reply } = parts;
  const caller = callerOf(request);
  const [keyId, userId] = [caller?.id ?? 0, request.user.id];
  requireScopes(caller, { chatbot: Number(request.url['bot_id']) });
  const bot = await findActiveBot(request, bots);
  checkMessages(messages);
  if (uuid !== undefined) {
    requireStoredConversations(bot);
    checkConversation(await conversations.find(uuid), { uuid, botId: bot.id, keyId, userId });
  }
  const result = await reply({
    bot,
    messages: messages.map(({ role, content }) => ({ role, content })),
    user: request.user,
    conversation: uuid ?? null,
    origin: { ...restOrigin(request, path), module: 'chatbots', botId: bot.id },
    signal: request.signal,
  });
  if (uuid !== undefined) {
    const text = messages.at(-1)?.content ?? '';
    await saveTurn(
      { database: parts.host.database, conversations },
      { uuid, botId: bot.id, keyId, userId, text, reply: result, key: request.headers['idempotency-key'] },
    );
  }
  const { content, usage, model, ignored, usageEstimated } = result;
  return new RestResponse({
    body: { reply: content, usage, bot_id: bot.id, model },
    headers: responseHeaders({ ignored, usageEstimated }),
  });
}

function requireStoredConversations({ privacy }: Bot): void {
  if (!privacy.keep) throw errors.conversations_not_kept();
}

/**
 * The active bot of the path. A `bot_id` in the body or query is ignored, although the host merges them before the path.
 *
 * @throws RestError 404 `rest_svc_bot_not_found` for an unknown or inactive bot
 */
async function findActiveBot({ url }: Pick<RestRequest, 'url'>, bots: Pick<BotStore, 'get'>): Promise<Bot> {
  const id = String(url['bot_id']);
  const bot = /^\d{1,15}$/.test(id) ? await bots.get(Number(id)) : null;
  if (bot === null || bot.status !== 'active') throw errors.bot_not_found({ values: { id: id.slice(0, 40) } });
  return bot;
}
