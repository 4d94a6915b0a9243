import type { VisibleForm } from '../../forms/form.ts';
import type { FeedbackValue, Source } from '../../conversations/conversation.ts';
import type { WidgetMessage } from '../../widget/protocol.ts';

/** A message as the page shows it. */
export interface MessageEntry {
  readonly kind: 'message';
  /** Stays the same when the answer gets its id. */
  readonly key: string;
  id: string;
  readonly role: 'user' | 'assistant';
  content: string;
  /** `waiting`: for a connection. `failed`: see `error`. */
  state: 'done' | 'sending' | 'waiting' | 'streaming' | 'failed';
  createdAt: number;
  sources: readonly Source[];
  partial: boolean;
  feedback: FeedbackValue;
  /** See WidgetMessage. */
  signature: string | undefined;
  /** Text for the visitor, empty for a general one, and whether a retry may help. `isOutage`: in a few seconds it will. */
  error: { readonly text: string; readonly retry: boolean; readonly isOutage: boolean } | null;
}

/** A form in the conversation. */
export interface FormEntry {
  readonly kind: 'form';
  readonly key: string;
  readonly form: VisibleForm;
  /** The same for every attempt, so that the submission counts once. */
  readonly submissionId: string;
  /** Set after the submission. */
  thanks: string | null;
}

export type Entry = MessageEntry | FormEntry;

/** The entry of a message from the server. */
export function toEntry(message: WidgetMessage): MessageEntry {
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
    signature: message.signature,
    error: null,
  };
}

/** The entry of a message that the page creates. */
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
    signature: undefined,
    error: null,
    ...init,
  };
}
