import type { ChatMessage } from '../reply/reply.ts';
import type { NewMessage, StoredMessage } from '../conversations/conversation.ts';
import type { WidgetMessage } from './protocol.ts';

/** Whether a message is stored and answered. */
export type MessageState =
  /** Not stored. */
  | { readonly kind: 'new' }
  /** Stored as the last message, without an answer. */
  | { readonly kind: 'unanswered' }
  | {
      readonly kind: 'answered';
      readonly answer: StoredMessage;
      /** No message follows the answer. */
      readonly isLast: boolean;
    }
  /** Stored without an answer, and other messages follow. */
  | { readonly kind: 'followed' };

/**
 * A visitor's conversation with a bot: stored (`persisted-thread.ts`) or held by the page alone (`ephemeral-thread.ts`).
 * Methods that write are part of the running transaction.
 */
export interface Thread {
  /** UUID. */
  readonly uuid: string;
  /** It has no accepted message yet. */
  readonly isNew: boolean;
  readonly messageCount: number;
  variables(): Readonly<Record<string, string>>;
  readonly hasConsent: boolean;
  messageState(messageId: string): Promise<MessageState>;
  /** Adds the visitor's message; the first one also creates the conversation. `count`: messages of the conversation. */
  addMessage(
    message: Pick<NewMessage, 'id' | 'content'>,
  ): Promise<{ readonly count: number; readonly isNew: boolean; readonly isFirst: boolean }>;
  /** Adds an answer of the bot. @param replaces id of the answer that it replaces */
  addAnswer(
    message: NewMessage,
    replaces: string | null,
  ): Promise<{ readonly count: number; readonly message: WidgetMessage }>;
  /** Stores the variables and values that rules set. */
  saveRuleChanges(changes: {
    readonly variables: Readonly<Record<string, string>>;
    readonly stored: readonly { readonly name: string; readonly value: string }[];
  }): Promise<void>;
  /** The newest messages for the prompt, up to and including the one named; null: all. @param limit number of messages */
  history(messageId: string | null, limit: number): Promise<readonly ChatMessage[]>;
}
