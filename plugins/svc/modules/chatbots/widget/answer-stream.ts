import type { Source } from '../conversations/conversation.ts';
import type { SendEvent } from './protocol.ts';

export type AnswerEnd = Extract<SendEvent, { type: 'done' | 'error' }>;

/** An answer that this node is generating. Any number of requests can follow it, from the beginning, at any time. */
export interface AnswerStream {
  readonly conversation: string;
  readonly messageId: string;
  /** Aborted when the visitor stops the answer or the node stops. */
  readonly signal: AbortSignal;
  text(): string;
  isStopped(): boolean;
  /** It replaces an earlier answer. */
  readonly isRegeneration: boolean;
  /** At least one follower received its end. */
  wasDelivered(): boolean;
  addText(piece: string): void;
  setSources(sources: readonly Source[]): void;
  finish(end: AnswerEnd): void;
  stop(): void;
  /** Aborts it because the node stops. The answer is discarded, and the message can be sent again. */
  cancel(): void;
  /** All events from the beginning; the last is `done` or `error`. Text that arrived between two reads is one event. */
  follow(): AsyncGenerator<SendEvent, void, undefined>;
  readonly ended: Promise<AnswerEnd>;
}

interface StreamState {
  readonly accepted: SendEvent;
  readonly followers: Set<() => void>;
  text: string;
  sources: readonly Source[] | null;
  end: AnswerEnd | null;
  isStopped: boolean;
  wasDelivered: boolean;
}

export function createAnswerStream({
  conversation,
  messageId,
  isRegeneration,
}: Pick<AnswerStream, 'conversation' | 'messageId' | 'isRegeneration'>): AnswerStream {
  const controller = new AbortController();
  const accepted = { type: 'accepted', conversation, message_id: messageId } as const;
  const state: StreamState = {
    accepted,
    followers: new Set(),
    text: '',
    sources: null,
    end: null,
    isStopped: false,
    wasDelivered: false,
  };
  let resolveEnd: (end: AnswerEnd) => void = () => {};
  const ended = new Promise<AnswerEnd>((resolve) => (resolveEnd = resolve));
  const change = (changes: Partial<StreamState>): void => {
    Object.assign(state, changes);
    for (const resume of state.followers) resume();
    state.followers.clear();
  };

  return {
    conversation,
    messageId,
    isRegeneration,
    signal: controller.signal,
    ended,
    follow: () => follow(state),
    text: () => state.text,
    isStopped: () => state.isStopped,
    wasDelivered: () => state.wasDelivered,
    addText(piece) {
      if (state.end === null && !state.isStopped) change({ text: state.text + piece });
    },
    setSources(sources) {
      if (sources.length > 0) change({ sources });
    },
    finish(end) {
      if (state.end !== null) return;
      change({ end });
      resolveEnd(end);
    },
    cancel() {
      controller.abort();
    },
    stop() {
      if (state.end !== null || state.isStopped) return;
      state.isStopped = true;
      controller.abort();
    },
  };
}

async function* follow(state: StreamState): AsyncGenerator<SendEvent, void, undefined> {
  yield state.accepted;
  let areSourcesSent = false;
  for (let position = 0; ;) {
    const { sources, text, end } = state;
    if (sources !== null && !areSourcesSent) {
      areSourcesSent = true;
      yield { type: 'sources', sources };
    } else if (position < text.length) {
      const piece = text.slice(position);
      position = text.length;
      yield { type: 'delta', text: piece };
    } else if (end !== null) {
      state.wasDelivered = true;
      return yield end;
    } else await new Promise<void>((resolve) => state.followers.add(resolve));
  }
}
