import type { Knex } from '#plugin-api';

/** Whose a conversation is. Exactly one of both: a signed-in user, or the session of a guest. */
export interface Owner {
  /** 0: a guest. */
  readonly userId: number;
  /** Id of the session, not its token. May be set for users too. */
  readonly sessionId: string | null;
}

export type FeedbackValue = 'up' | 'down' | 'none';

export interface Source {
  readonly title: string;
  /** Empty: it has no address. */
  readonly url: string;
  /** Percent, 0 to 100. */
  readonly score: number;
}

export interface Conversation extends Owner {
  /** Row number: the `id` of the logs. */
  readonly id: number;
  readonly uuid: string;
  readonly botId: number;
  /** `chatbot`, or `rest_api` (D13). */
  readonly module: string;
  readonly messageCount: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly lastMessageAt: number;
  /** Where the visitor was when it began. */
  readonly pageUrl: string;
  /** Anonymised unless the bot keeps whole addresses; empty: none. */
  readonly ip: string;
  /** When the visitor consented; null: never asked. */
  readonly consentedAt: number | null;
  /** Set by rules. */
  readonly variables: Readonly<Record<string, string>>;
  /** Kept by rules, shown with the transcript. */
  readonly stored: readonly { readonly name: string; readonly value: string }[];
}

export interface StoredMessage {
  /** UUID; that of a user's message comes from the page that sent it, so that it counts once however often it is sent. */
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly content: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Of answers by a model: display name of the provider. */
  readonly provider: string | null;
  readonly model: string | null;
  readonly usage: {
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly total_tokens: number;
  } | null;
  /** Millionths of a US dollar; null: not known. */
  readonly cost: number | null;
  readonly sources: readonly Source[];
  /** The visitor stopped it, or its stream broke: what there was is kept. */
  readonly isPartial: boolean;
  readonly feedback: FeedbackValue;
  readonly comment: string;
  /** Acts of feedback so far; 0 while there was none. */
  readonly feedbackRevision: number;
}

export interface NewConversation extends Owner {
  readonly uuid: string;
  readonly botId: number;
  readonly module: string;
  readonly pageUrl: string;
  readonly ip: string;
  readonly consentedAt: number | null;
  readonly variables?: Readonly<Record<string, string>>;
}

export type NewMessage = Pick<StoredMessage, 'id' | 'role' | 'content'> &
  Partial<Pick<StoredMessage, 'provider' | 'model' | 'usage' | 'cost' | 'sources' | 'isPartial'>>;

export interface FeedbackChange {
  readonly messageId: string;
  readonly value: FeedbackValue;
  readonly comment: string;
}

/**
 * Conversations, stored turn by turn. Every write takes part in the transaction it is given, or in the one the call runs
 * in, so that events can be emitted with it; several nodes may write to one conversation at once.
 */
export interface ConversationStore {
  find(uuid: string): Promise<Conversation | null>;
  /** Oldest first. `last`: only so many of the newest. */
  messages(conversationId: number, options?: { readonly last?: number }): Promise<readonly StoredMessage[]>;
  message(conversationId: number, messageId: string): Promise<StoredMessage | null>;
  /** The latest conversation of an owner with a bot, for a widget that is opened again. */
  latest(botId: number, owner: Owner): Promise<Conversation | null>;
  /** Newest first. */
  listOf(botId: number, owner: Owner, limit: number): Promise<readonly Conversation[]>;
  /** Throws when the uuid is taken. */
  start(conversation: NewConversation, transaction?: Knex.Transaction): Promise<Conversation>;
  /**
   * Adds messages at the end in one go; ones whose ids the conversation has already are left as they are and not counted
   * again. Answers the conversation as it is then, and the ids that were new.
   */
  append(
    conversationId: number,
    messages: readonly NewMessage[],
    transaction?: Knex.Transaction,
  ): Promise<{ readonly conversation: Conversation; readonly added: readonly string[] }>;
  /** Takes a message away, for an answer that is to be made anew. */
  remove(conversationId: number, messageId: string, transaction?: Knex.Transaction): Promise<boolean>;
  update(
    conversationId: number,
    changes: Partial<Pick<Conversation, 'variables' | 'stored' | 'consentedAt'>>,
    transaction?: Knex.Transaction,
  ): Promise<void>;
  /** Answers the message as it is then, or null when it says so already (the same click sent again), or there is no such answer of the bot. */
  setFeedback(
    conversationId: number,
    change: FeedbackChange,
    transaction?: Knex.Transaction,
  ): Promise<StoredMessage | null>;
  /** With all its messages. */
  delete(conversationId: number): Promise<boolean>;
}
