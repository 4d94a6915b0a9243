import type { Source } from '../conversations/conversation.ts';
import type { SendEvent } from './protocol.ts';

export type TurnEnd = Extract<SendEvent, { type: 'done' | 'error' }>;

/** An answer that is being made on this node, for whoever wants to follow it, however often and however late. */
export interface LiveTurn {
  readonly conversation: string;
  readonly messageId: string;
  /** Aborted when the visitor stops it, or the node. */
  readonly signal: AbortSignal;
  readonly text: string;
  readonly isStopped: boolean;
  /** It makes an answer anew. */
  readonly isAgain: boolean;
  /** Somebody who followed it got its end. */
  readonly wasTold: boolean;
  addText(piece: string): void;
  setSources(sources: readonly Source[]): void;
  finish(end: TurnEnd): void;
  stop(): void;
  /** Ends it because the node stops: nothing of it counts, and the message can be sent again. */
  cancel(): void;
  /** From the beginning; ends with `done` or `error`. What came since the last look comes as one piece. */
  follow(): AsyncGenerator<SendEvent, void, undefined>;
  readonly ended: Promise<TurnEnd>;
}

interface TurnState {
  readonly accepted: SendEvent;
  readonly waiting: Set<() => void>;
  text: string;
  sources: readonly Source[] | null;
  end: TurnEnd | null;
  isStopped: boolean;
  wasTold: boolean;
}

export function createLiveTurn({
  conversation,
  messageId,
  isAgain,
}: Pick<LiveTurn, 'conversation' | 'messageId' | 'isAgain'>): LiveTurn {
  const controller = new AbortController();
  const accepted = { type: 'accepted', conversation, message_id: messageId } as const;
  const state: TurnState = {
    accepted,
    waiting: new Set(),
    text: '',
    sources: null,
    end: null,
    isStopped: false,
    wasTold: false,
  };
  let resolveEnd: (end: TurnEnd) => void = () => {};
  const ended = new Promise<TurnEnd>((resolve) => (resolveEnd = resolve));
  const change = (changes: Partial<TurnState>): void => {
    Object.assign(state, changes);
    for (const look of state.waiting) look();
    state.waiting.clear();
  };

  return {
    conversation,
    messageId,
    isAgain,
    signal: controller.signal,
    ended,
    follow: () => follow(state),
    get text() {
      return state.text;
    },
    get isStopped() {
      return state.isStopped;
    },
    get wasTold() {
      return state.wasTold;
    },
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

async function* follow(state: TurnState): AsyncGenerator<SendEvent, void, undefined> {
  yield state.accepted;
  let isSourceTold = false;
  for (let position = 0; ;) {
    const { sources, text, end } = state;
    if (sources !== null && !isSourceTold) {
      isSourceTold = true;
      yield { type: 'sources', sources };
    } else if (position < text.length) {
      const piece = text.slice(position);
      position = text.length;
      yield { type: 'delta', text: piece };
    } else if (end !== null) {
      state.wasTold = true;
      return yield end;
    } else await new Promise<void>((resolve) => state.waiting.add(resolve));
  }
}
