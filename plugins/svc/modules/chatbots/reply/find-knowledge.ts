import type { HostApi } from '#plugin-api';
import type { SearchVectors } from '../../../ai/search-vectors.ts';
import type { ChatbotTurn } from './turn.ts';
import '../hooks.ts';
import { knowledgeTexts, type KnowledgeText } from './knowledge-text.ts';
import type { ReplyInput } from './reply.ts';

export interface FindKnowledgeParts {
  readonly host: Pick<HostApi, 'hooks' | 'log' | 'clock'>;
  readonly searchVectors: SearchVectors;
}

/** Milliseconds a visitor waits for the knowledge before the answer is made without it. */
const patience = 10_000;
/** Characters of a message that are embedded; the rest says little and models have limits. */
const longestQuestion = 8_000;

/**
 * The texts of the bot's vector store that fit the latest message; none where the bot has no knowledge. A store or an
 * embedding provider that fails, or takes longer than ten seconds, must not silence the bot: the log and the action
 * `svc_chatbot_knowledge_failed` tell of it, and the answer is made without. A caller that gives up is obeyed.
 */
export function createFindKnowledge({ host, searchVectors }: FindKnowledgeParts): (input: ReplyInput, turn: ChatbotTurn) => Promise<readonly KnowledgeText[]> {
  const { hooks, log, clock } = host;

  async function search({ bot: { knowledge }, messages, origin, signal }: ReplyInput): Promise<KnowledgeText[]> {
    const limit = new AbortController();
    const undo = clock.after(patience, () => { limit.abort(); });
    try {
      const result = await searchVectors({
        store: knowledge.store,
        target: knowledge.target,
        text: (messages.at(-1)?.content ?? '').slice(0, longestQuestion),
        embedding: { provider: knowledge.embedding_provider, model: knowledge.embedding_model },
        limit: knowledge.top_k,
        ...(knowledge.namespace !== '' && { namespace: knowledge.namespace }),
        signal: signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]),
        origin,
      });
      return knowledgeTexts(result, knowledge.min_score);
    } catch (error) {
      throw limit.signal.aborted && signal?.aborted !== true ? new Error(`The knowledge did not answer within ${String(patience / 1000)} seconds.`, { cause: error }) : error;
    } finally {
      undo();
    }
  }

  return async (input, turn) => {
    const { bot, signal } = input;
    if (!bot.knowledge.enabled) return [];
    const found = await search(input).catch(async (error: unknown) => {
      if (signal?.aborted === true) throw error;
      log.warn('a chatbot answers without its knowledge', { bot: bot.id, store: bot.knowledge.store, target: bot.knowledge.target, error });
      await hooks.doActionAsync('svc_chatbot_knowledge_failed', error, turn);
      return [];
    });
    return hooks.applyFiltersAsync('svc_chatbot_knowledge', found, turn);
  };
}
