import type { HostApi } from '#plugin-api';
import type { FindKnowledge, KnowledgeText } from '../../../kit/assistants/assistant-knowledge.ts';
import '../hooks.ts';
import type { ReplyInput } from './reply.ts';
import type { ChatbotTurn } from './turn.ts';

export interface BotKnowledgeParts {
  readonly host: Pick<HostApi, 'hooks' | 'log'>;
  readonly findKnowledge: FindKnowledge;
}

/**
 * The texts of the bot's knowledge that fit the latest message; none where the bot has no knowledge. A store or an
 * embedding provider that fails must not silence the bot: the log and the action `svc_chatbot_knowledge_failed` tell of
 * it, and the answer is made without. A caller that gives up is obeyed.
 */
export function createBotKnowledge({
  host,
  findKnowledge,
}: BotKnowledgeParts): (input: ReplyInput, turn: ChatbotTurn) => Promise<readonly KnowledgeText[]> {
  const { hooks, log } = host;
  return async (input, turn) => {
    const { bot, messages, origin, signal, user, conversation } = input;
    if (!bot.knowledge.enabled) return [];
    const asker = bot.privacy.keep ? { userId: user?.id ?? 0, conversation } : null;
    const found = await findKnowledge({
      knowledge: bot.knowledge,
      text: messages.at(-1)?.content ?? '',
      origin,
      signal,
      asker,
    }).catch(async (error: unknown) => {
      if (signal?.aborted === true) throw error;
      log.warn('a chatbot answers without its knowledge', {
        bot: bot.id,
        base: bot.knowledge.base,
        store: bot.knowledge.store,
        target: bot.knowledge.target,
        error,
      });
      await hooks.doActionAsync('svc_chatbot_knowledge_failed', error, turn);
      return [];
    });
    return hooks.applyFiltersAsync('svc_chatbot_knowledge', found, turn);
  };
}
