import type { User } from '#plugin-api';
import type { GeneratedText } from '../../../ai/generate-text.ts';
import type { UsageOrigin } from '../../../kit/usage-origin.ts';
import type { Bot } from '../bots/bot.ts';
import type { Source } from '../conversations/conversation.ts';
import type { KnowledgePassage } from '../../../kit/assistants/assistant-knowledge.ts';
import type { AiParams } from '../../../kit/ai-params.ts';

export interface ChatMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

export interface ReplyInput {
  readonly bot: Bot;
  /** Oldest first; the last is the user's. The prompt gets what `promptMessages` selects. */
  readonly messages: readonly ChatMessage[];
  /** For `[username]`. Default: a guest. */
  readonly user?: Pick<User, 'id' | 'displayName' | 'roles'> | undefined;
  /** UUID of the conversation, for hooks; null without one. */
  readonly conversation: string | null;
  /** Texts that rules add to the system text. */
  readonly contexts?: readonly string[];
  /** For the usage ledger. */
  readonly origin: UsageOrigin;
  readonly signal?: AbortSignal | undefined;
  /** Called for each piece of text. A plugin may still change the content after it was streamed (`svc_chatbot_reply`). */
  readonly onText?: ((piece: string) => void) | undefined;
  /** Called once, before the first text, if sources are shown. */
  readonly onSources?: ((sources: readonly Source[]) => void) | undefined;
}

export interface Reply extends Pick<
  GeneratedText,
  'content' | 'usage' | 'tokenDetails' | 'providerId' | 'provider' | 'model' | 'ignored' | 'usageEstimated' | 'finish'
> {
  /** Sources of the prompt, best first; empty unless the bot shows them. */
  readonly sources: readonly Source[];
  /** Cost of the text in millionths of a US dollar, without the question's embedding; null if no price is known. */
  readonly cost: number | null;
}

/** Generates an answer of a bot. Stores nothing and emits no events. @throws RestError as in D5 */
export type CreateReply = (input: ReplyInput) => Promise<Reply>;

/** The chat turn that hooks get with an answer. */
export interface ChatbotTurn {
  readonly bot: Bot;
  /** The conversation as the caller passed it; the last message is the user's. */
  readonly messages: readonly ChatMessage[];
  readonly user: ReplyInput['user'];
  /** UUID; null without one. */
  readonly conversation: string | null;
  readonly origin: ReplyInput['origin'];
}

/** The request to the provider. */
export interface ChatbotPrompt {
  /** Id of the provider. */
  readonly provider: string;
  /** If empty, the model saved for the provider. */
  readonly model: string;
  readonly params: AiParams;
  /** The bot's instructions with their placeholders replaced. */
  readonly system: string;
  /** Texts that rules added, placed after the instructions. */
  readonly contexts: readonly string[];
  /** Passages found for the latest message, placed last and marked as data. */
  readonly knowledge: readonly KnowledgePassage[];
  /** The newest messages of the conversation; the last is the user's. */
  readonly messages: readonly ChatMessage[];
}

/**
 * The messages that the model gets: the newest `max_messages` of at most `max_prompt_characters` together, without blank
 * ones. The last message is always among them.
 */
export function promptMessages(
  { max_messages, max_prompt_characters }: Pick<Bot, 'max_messages' | 'max_prompt_characters'>,
  messages: readonly ChatMessage[],
): readonly ChatMessage[] {
  const newest = messages.filter(({ content }) => content.trim() !== '').slice(-max_messages);
  let characters = 0;
  const tooLong = newest.findLastIndex(({ content }, index) => {
    characters += content.length;
    return characters > max_prompt_characters && index < newest.length - 1;
  });
  return newest.slice(tooLong + 1);
}
