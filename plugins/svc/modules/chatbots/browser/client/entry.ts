import type { BotForm } from '../../forms/form.ts';
import type { FeedbackValue, Source } from '../../conversations/conversation.ts';
import type { WidgetMessage } from '../../widget/protocol.ts';

/** A message as the page shows it. */
export interface MessageEntry {
  readonly kind: 'message';
  /** Stays the same while the answer gets its id. */
  readonly key: string;
  id: string;
  readonly role: 'user' | 'assistant';
  content: string;
  /** `waiting`: for the connection. `failed`: see `error`. */
  state: 'done' | 'sending' | 'waiting' | 'streaming' | 'failed';
  createdAt: number;
  sources: readonly Source[];
  partial: boolean;
  feedback: FeedbackValue;
  /** What to tell the visitor, and whether trying again may help. */
  error: { readonly text: string; readonly retry: boolean } | null;
}

/** A form in the conversation. */
export interface FormEntry {
  readonly kind: 'form';
  readonly key: string;
  readonly form: BotForm;
  /** The same for every try, so that it counts once. */
  readonly submissionId: string;
  /** Set once it was submitted. */
  thanks: string | null;
}

export type Entry = MessageEntry | FormEntry;

/** An entry of a message the server has. */
export function entryOf(message: WidgetMessage): MessageEntry {
  return {
    kind: 'message',
    key: message.id,
    id: message.id,
    role: message.role,
    content: message.content,
    state: 'done',
    createdAt: Date.parse(message.created_at),
    sources: message.sources,
    partial: message.is_partial,
    feedback: message.feedback,
    error: null,
  };
}

/** An entry of a message that is made here. */
export function newEntry(role: 'user' | 'assistant', id: string, init: Partial<MessageEntry> = {}): MessageEntry {
  return {
    kind: 'message',
    key: id,
    id,
    role,
    content: '',
    state: 'done',
    createdAt: Date.now(),
    sources: [],
    partial: false,
    feedback: 'none',
    error: null,
    ...init,
  };
}
