import { errors } from '../../kit/errors.ts';
import type { Bot } from './bots/bot.ts';
import { createChatbots, type ChatbotPorts } from './chatbots.ts';
import type { Reply, ReplyInput } from './reply/reply.ts';

/** Replies of chatbots for other modules. No conversation is stored and no events are sent. */
export interface BotReplies {
  /** The chatbots, inactive ones too, which do not reply. */
  list(): Promise<readonly Pick<Bot, 'id' | 'name' | 'status'>[]>;
  /** @throws RestError 404 `rest_svc_bot_not_found` for an unknown or inactive chatbot, and the errors of D5 */
  reply(botId: number, input: Omit<ReplyInput, 'bot' | 'conversation'>): Promise<Reply>;
}

export function createBotReplies(ports: ChatbotPorts): BotReplies {
  const { bots, reply } = createChatbots(ports);
  return {
    list: () => bots.summaries(),
    async reply(botId, input) {
      const bot = await bots.get(botId);
      if (bot === null || bot.status !== 'active') throw errors.bot_not_found({ values: { id: botId } });
      return reply({ ...input, bot, conversation: null });
    },
  };
}
