import { RestResponse, type RestRequest } from '#plugin-api';
import type { ChatbotParts } from './chatbots.ts';
import { answerHeaders } from '../../kit/answer-headers.ts';
import { errors } from '../../kit/errors.ts';
import { checkMessages } from '../../kit/messages.ts';
import { botOfPath } from './bot-of-path.ts';
import type { Bot } from './bots/bot.ts';
import type { ChatParams } from './chat-message.route.ts';
import { checkConversation, saveTurn } from './reply/save-turn.ts';

/** The answer of `POST /chat/{bot_id}/message`. @param path for the usage ledger */
export async function answerChat(
  request: RestRequest<ChatParams>,
  { parts, path }: { readonly parts: ChatbotParts; readonly path: string },
): Promise<RestResponse> {
  const { messages, stream, conversation_uuid: uuid } = request.params;
  if (stream === true) throw errors.streaming_not_supported();
  const { bots, conversations, reply } = parts;
  const bot = await botOfPath(request, bots);
  checkMessages(messages);
  if (uuid !== undefined) {
    refuseUnkept(bot);
    checkConversation(await conversations.find(uuid), { uuid, botId: bot.id });
  }
  const result = await reply({
    bot,
    messages: messages.map(({ role, content }) => ({ role, content })),
    user: request.user,
    conversation: uuid ?? null,
    origin: { module: 'chatbots', route: path, botId: bot.id },
    signal: request.signal,
  });
  if (uuid !== undefined) {
    const text = messages.at(-1)?.content ?? '';
    await saveTurn(
      { database: parts.host.database, conversations },
      { uuid, botId: bot.id, userId: request.user.id, text, reply: result, key: request.headers['idempotency-key'] },
    );
  }
  const { content, usage, model, ignored, usageEstimated } = result;
  return new RestResponse({
    body: { reply: content, usage, bot_id: bot.id, model },
    headers: answerHeaders({ ignored, usageEstimated }),
  });
}

function refuseUnkept({ privacy }: Bot): void {
  if (!privacy.keep) throw errors.conversations_not_kept();
}
