import type { KnowledgeText } from '../../../kit/assistants/assistant-knowledge.ts';
import type { AiParams } from '../../../kit/ai-params.ts';
import type { Bot } from '../bots/bot.ts';
import type { ChatMessage, ReplyInput } from './reply.ts';

/** What hooks are told of the answer that is being made. */
export interface ChatbotTurn {
  readonly bot: Bot;
  /** The conversation as it was handed in; the last message is the user's. */
  readonly messages: readonly ChatMessage[];
  readonly user: ReplyInput['user'];
  /** UUID; null: there is none. */
  readonly conversation: string | null;
  readonly origin: ReplyInput['origin'];
}

/** What goes to the provider. */
export interface ChatbotPrompt {
  /** Id of the provider. */
  readonly provider: string;
  /** Empty: the provider's saved one. */
  readonly model: string;
  readonly params: AiParams;
  /** The bot's instructions, placeholders filled in. */
  readonly system: string;
  /** Texts that rules added; they follow the instructions. */
  readonly contexts: readonly string[];
  /** Texts that were found for the latest message; they come last, as data. */
  readonly knowledge: readonly KnowledgeText[];
  /** The newest of the conversation, the user's last. */
  readonly messages: readonly ChatMessage[];
}
