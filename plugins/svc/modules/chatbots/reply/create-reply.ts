import type { HostApi } from '#plugin-api';
import {
  listSources,
  type FindKnowledge,
  knowledgePrompt,
  type KnowledgePassage,
} from '../../../kit/assistants/assistant-knowledge.ts';
import { currentDryRun } from '../../../kit/dry-run.ts';
import type { GenerateText } from '../../../ai/generate-text.ts';
import { fillPlaceholders } from '../../../ai/system-text.ts';
import '../hooks.ts';
import {
  promptMessages,
  type CreateReply,
  type Reply,
  type ReplyInput,
  type ChatbotPrompt,
  type ChatbotTurn,
} from './reply.ts';

export interface ReplyParts {
  readonly host: Pick<HostApi, 'hooks' | 'log' | 'clock' | 'site'>;
  readonly generateText: GenerateText;
  readonly findKnowledge: FindKnowledge;
}

/** See CreateReply. It has no state, so any node can generate any answer. */
export function createReplies(parts: ReplyParts): CreateReply {
  const { hooks } = parts.host;
  const findPassages = createBotKnowledge(parts);

  async function buildPrompt(input: ReplyInput, turn: ChatbotTurn): Promise<ChatbotPrompt> {
    const { bot, messages, contexts = [], user } = input;
    const [timezone, knowledge] = await Promise.all([parts.host.site.timezone(), findPassages(input, turn)]);
    const placeholders = {
      now: parts.host.clock.now(),
      timezone,
      username: user && user.id > 0 ? user.displayName : 'Guest',
    };
    const prompt: ChatbotPrompt = {
      provider: bot.provider,
      model: bot.model,
      params: {
        max_completion_tokens: bot.max_completion_tokens,
        ...(bot.temperature !== null && { temperature: bot.temperature }),
      },
      system: fillPlaceholders(bot.instructions, placeholders),
      contexts: contexts.map((text) => fillPlaceholders(text, placeholders)),
      knowledge,
      messages: promptMessages(bot, messages),
    };
    return hooks.applyFiltersAsync('svc_chatbot_prompt', prompt, turn);
  }

  async function generateReply(input: ReplyInput, turn: ChatbotTurn): Promise<Reply> {
    const { bot, user, signal, origin, onText, onSources } = input;
    const prompt = await buildPrompt(input, turn);
    const sources = bot.knowledge.show_sources ? listSources(prompt.knowledge) : [];
    const streams = onText !== undefined && (await hooks.applyFiltersAsync('svc_chatbot_streams', true, turn));
    if (sources.length > 0) onSources?.(sources);
    const { provider, model, messages, params } = prompt;
    const text = await parts.generateText({
      provider,
      model,
      messages,
      systemInstruction: systemText(prompt),
      placeholders: false,
      params,
      user,
      signal,
      origin,
      ...(streams && { onText }),
    });
    const reply: Reply = { ...text, sources };
    const content = await hooks.applyFiltersAsync('svc_chatbot_reply', text.content, reply, turn);
    if (!streams) onText?.(content);
    return { ...reply, content };
  }

  return async (input) => {
    const { bot, messages, user, conversation, origin } = input;
    const turn: ChatbotTurn = { bot, messages, user, conversation, origin };
    let reply: Reply;
    try {
      reply = await generateReply(input, turn);
    } catch (error) {
      if (currentDryRun() === undefined) await hooks.doActionAsync('svc_chatbot_reply_failed', error, turn);
      throw error;
    }
    await hooks.doActionAsync('svc_chatbot_replied', reply, turn);
    return reply;
  };
}

/** Joins instructions, the contexts of rules and the passages into one system text, without empty parts. */
export function systemText({
  system,
  contexts,
  knowledge,
}: Pick<ChatbotPrompt, 'system' | 'contexts' | 'knowledge'>): string {
  return [system, ...contexts, knowledgePrompt(knowledge, 'the latest message of the conversation')]
    .filter((part) => part.trim() !== '')
    .join('\n\n');
}

interface BotKnowledgeParts {
  readonly host: Pick<HostApi, 'hooks' | 'log'>;
  readonly findKnowledge: FindKnowledge;
}

/**
 * Finds the passages of the bot's knowledge for the latest message. If the store or the embedding provider fails, the bot
 * still answers, without passages; the log and the action `svc_chatbot_knowledge_failed` report the failure.
 */
function createBotKnowledge({
  host,
  findKnowledge,
}: BotKnowledgeParts): (input: ReplyInput, turn: ChatbotTurn) => Promise<readonly KnowledgePassage[]> {
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
      // The search itself costs a call, which the dry run has noted.
      if (currentDryRun() !== undefined) return [];
      log.warn('Knowledge lookup failed; the chatbot answers without it', {
        event: 'chatbot_knowledge_failed',
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
