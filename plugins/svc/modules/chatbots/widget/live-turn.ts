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

export function createLiveTurn({ conversation, messageId, isAgain }: Pick<LiveTurn, 'conversation' | 'messageId' | 'isAgain'>): LiveTurn {
  const controller = new AbortController();
  const waiting = new Set<() => void>();
  let text = '';
  let sources: readonly Source[] | null = null;
  let end: TurnEnd | null = null;
  let isStopped = false;
  let wasTold = false;
  let resolveEnd: (end: TurnEnd) => void = () => {};
  const ended = new Promise<TurnEnd>((resolve) => (resolveEnd = resolve));

  const changed = (): void => {
    for (const look of waiting) look();
    waiting.clear();
  };

  async function* follow(): AsyncGenerator<SendEvent, void, undefined> {
    yield { type: 'accepted', conversation, message_id: messageId };
    let isSourceTold = false;
    for (let position = 0; ; ) {
      if (sources !== null && !isSourceTold) {
        isSourceTold = true;
        yield { type: 'sources', sources };
      } else if (position < text.length) {
        const piece = text.slice(position);
        position = text.length;
        yield { type: 'delta', text: piece };
      } else if (end !== null) {
        wasTold = true;
        return yield end;
      } else await new Promise<void>((resolve) => waiting.add(resolve));
    }
  }

  return {
    conversation,
    messageId,
    isAgain,
    signal: controller.signal,
    ended,
    follow,
    get text() {
      return text;
    },
    get isStopped() {
      return isStopped;
    },
    get wasTold() {
      return wasTold;
    },
    addText(piece) {
      if (end !== null || isStopped) return;
      text += piece;
      changed();
    },
    setSources(given) {
      if (given.length === 0) return;
      sources = given;
      changed();
    },
    finish(given) {
      if (end !== null) return;
      end = given;
      changed();
      resolveEnd(given);
    },
    cancel() {
      controller.abort();
    },
    stop() {
      if (end !== null || isStopped) return;
      isStopped = true;
      controller.abort();
    },
  };
}
