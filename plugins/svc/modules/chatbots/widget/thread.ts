import type { ChatMessage } from '../reply/reply.ts';
import type { NewMessage, StoredMessage } from '../conversations/conversation.ts';
import type { WidgetMessage } from './protocol.ts';

/** How far a message has come. */
export type MessageState =
  /** Never seen. */
  | { readonly kind: 'new' }
  /** It is the last one, and has no answer. */
  | { readonly kind: 'unanswered' }
  | {
      readonly kind: 'answered';
      readonly answer: StoredMessage;
      /** Nothing came after them. */ readonly isLast: boolean;
    }
  /** Without an answer, and others came after it. */
  | { readonly kind: 'followed' };

/** One conversation of a visitor with a bot, stored or in the page alone. What writes takes part in the running transaction. */
export interface Thread {
  /** UUID. */
  readonly uuid: string;
  /** No message of it was accepted yet. */
  readonly isNew: boolean;
  readonly messageCount: number;
  readonly variables: Readonly<Record<string, string>>;
  readonly hasConsent: boolean;
  stateOf(messageId: string): Promise<MessageState>;
  /** Adds the visitor's message, and the conversation with its first one. Answers how many messages there are, and whether it is new. */
  add(
    message: Pick<NewMessage, 'id' | 'content'>,
  ): Promise<{ readonly count: number; readonly isNew: boolean; readonly isFirst: boolean }>;
  /** Adds an answer of the bot; `replaces`: in place of that one. */
  answer(
    message: NewMessage,
    replaces: string | null,
  ): Promise<{ readonly count: number; readonly message: WidgetMessage }>;
  /** What rules set and keep. */
  note(changes: {
    readonly variables: Readonly<Record<string, string>>;
    readonly stored: readonly { readonly name: string; readonly value: string }[];
  }): Promise<void>;
  /** What the model is told: up to this message of the visitor; null: all there is so far. */
  told(messageId: string | null, most: number): Promise<readonly ChatMessage[]>;
}
