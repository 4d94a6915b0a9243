import type { User } from '#plugin-api';
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
  /** Oldest first; the last one is the user's. The bot's `max_messages` newest are told the model. */
  readonly messages: readonly ChatMessage[];
  /** For `[username]`; default a guest. */
  readonly user?: Pick<User, 'id' | 'displayName' | 'roles'> | undefined;
  /** UUID of the conversation, for hooks; null: there is none. */
  readonly conversation: string | null;
  /** Texts that rules add to the system text. */
  readonly contexts?: readonly string[];
  /** For the usage ledger. */
  readonly origin: UsageOrigin;
  readonly signal?: AbortSignal | undefined;
  /** Called as text comes in; all pieces together are the content, unless a plugin changed the text that was streamed already (`svc_chatbot_reply`). */
  readonly onText?: ((piece: string) => void) | undefined;
  /** Called once, before the first text, when sources are to be shown. */
  readonly onSources?: ((sources: readonly Source[]) => void) | undefined;
}

export interface Reply {
  readonly content: string;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number; readonly total_tokens: number };
  /** Display name (D6). */
  readonly provider: string;
  readonly model: string;
  readonly ignored: readonly string[];
  readonly usageEstimated: boolean;
  /** Those that went into the prompt, best first; empty unless the bot shows them. */
  readonly sources: readonly Source[];
  /** Of the text, without the embedding of the question. Millionths of a US dollar; null: no price is known. */
  readonly cost: number | null;
}

/** An answer of the bot: prompt, knowledge, filters, provider. Stores nothing and sends no events. Throws the RestErrors of D5. */
export type CreateReply = (input: ReplyInput) => Promise<Reply>;

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
  readonly knowledge: readonly KnowledgePassage[];
  /** The newest of the conversation, the user's last. */
  readonly messages: readonly ChatMessage[];
}
