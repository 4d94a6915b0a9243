import type { Knex } from '#plugin-api';
import type { KnowledgeSource } from '../../../kit/assistants/assistant-knowledge.ts';

/** The owner of a conversation: a signed-in user, or the session of a guest. */
export interface Owner {
  /** 0: a guest. */
  readonly userId: number;
  /** Id of the session, not its token. Can be set for users too. */
  readonly sessionId: string | null;
}

export type FeedbackValue = 'up' | 'down' | 'none';

/** A source of an answer. */
export type Source = KnowledgeSource;

export interface Conversation extends Owner {
  /** Row number: the `id` of the logs. */
  readonly id: number;
  readonly uuid: string;
  readonly botId: number;
  /** `chatbot`, or `rest_api` (D13). */
  readonly module: string;
  /** Id of the key that began it, 0 for the REST key. Null: one of a visitor, or of a version that did not store keys. */
  readonly keyId: number | null;
  readonly messageCount: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly lastMessageAt: number;
  /** Page on which the conversation started. */
  readonly pageUrl: string;
  /** Anonymized unless the bot stores whole addresses; may be empty. */
  readonly ip: string;
  /** When the visitor consented. Null if consent was not required. */
  readonly consentedAt: number | null;
  /** Set by rules. */
  readonly variables: Readonly<Record<string, string>>;
  /** Notes stored by rules, shown with the transcript. */
  readonly stored: readonly { readonly name: string; readonly value: string }[];
}

export interface StoredMessage {
  /** UUID. The visitor's page generates it for a user's message, so that a repeated request is stored once. */
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly content: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Display name of the provider, for answers of a model. */
  readonly provider: string | null;
  readonly model: string | null;
  readonly usage: {
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly total_tokens: number;
  } | null;
  /** Millionths of a US dollar. Null if the price is unknown. */
  readonly cost: number | null;
  readonly sources: readonly Source[];
  /** The visitor stopped the answer, or its stream broke. The received part is stored. */
  readonly isPartial: boolean;
  readonly feedback: FeedbackValue;
  readonly comment: string;
  /** Number of feedback changes; 0 before the first one. */
  readonly feedbackRevision: number;
}

export interface NewConversation extends Owner {
  readonly uuid: string;
  readonly botId: number;
  readonly module: string;
  readonly keyId?: number;
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
 * Stores conversations message by message. Every write joins the given transaction, or the one the call runs in, so that
 * events are emitted with it. Several nodes may write to one conversation at once.
 */
export interface ConversationStore {
  find(uuid: string): Promise<Conversation | null>;
  /** Oldest first. `last` limits the result to the newest messages. */
  messages(conversationId: number, options?: { readonly last?: number }): Promise<readonly StoredMessage[]>;
  message(conversationId: number, messageId: string): Promise<StoredMessage | null>;
  /** The latest conversation of an owner with a bot, for a widget that is opened again. */
  latest(botId: number, owner: Owner): Promise<Conversation | null>;
  /** Newest first. */
  listByOwner(botId: number, owner: Owner, limit: number): Promise<readonly Conversation[]>;
  /** Throws if the uuid exists. */
  start(conversation: NewConversation, transaction?: Knex.Transaction): Promise<Conversation>;
  /** Binds a conversation without a key to one. Returns whether it is bound to this key now. */
  bindKey(conversationId: number, keyId: number): Promise<boolean>;
  /**
   * Appends messages atomically. Messages whose ids exist are ignored. Returns the updated conversation and the new ids.
   */
  append(
    conversationId: number,
    messages: readonly NewMessage[],
    transaction?: Knex.Transaction,
  ): Promise<{ readonly conversation: Conversation; readonly added: readonly string[] }>;
  /** Deletes a message, for an answer that is generated again. */
  remove(conversationId: number, messageId: string, transaction?: Knex.Transaction): Promise<boolean>;
  /** Sets the given variables and appends the given values. Others stay, so concurrent changes are not lost. */
  update(
    conversationId: number,
    changes: Partial<Pick<Conversation, 'variables' | 'stored' | 'consentedAt'>>,
    transaction?: Knex.Transaction,
  ): Promise<void>;
  /** Returns the updated message. Null if nothing changes (a repeated request) or the answer does not exist. */
  setFeedback(
    conversationId: number,
    change: FeedbackChange,
    transaction?: Knex.Transaction,
  ): Promise<StoredMessage | null>;
  /** Deletes the conversation with its messages. Returns whether it existed. */
  delete(conversationId: number): Promise<boolean>;
}
