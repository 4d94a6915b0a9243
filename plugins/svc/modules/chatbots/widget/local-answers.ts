import type { Clock } from '#plugin-api';
import type { LiveTurn, TurnEnd } from './answer-stream.ts';

interface Entry {
  readonly turn: LiveTurn;
  end: TurnEnd | null;
}

/** The answers that this node makes, and those it has just made. */
export interface TurnRegistry {
  add(turn: LiveTurn): void;
  /** The one of this message, under way or just ended. */
  find(conversation: string, messageId: string): Readonly<Entry> | null;
  /** The one under way of this message. */
  running(conversation: string, messageId: string): LiveTurn | null;
  isBusy(conversation: string): boolean;
  /** Runs works of one conversation one after the other. */
  inTurn<Result>(conversation: string, work: () => Promise<Result>): Promise<Result>;
  /** Work that `close` waits for. Never rejects. */
  track(work: Promise<void>): void;
  /** Something of the conversation ended on another node. */
  heard(conversation: string): void;
  /** Resolves when something is heard of the conversation, or after a while. */
  news(conversation: string): Promise<void>;
  isClosing(): boolean;
  close(): Promise<void>;
}

/** Answers remembered after their end, and for how long: for pages that come back for them. */
const mostEnded = 500;
const endedFor = 120_000;
/** Milliseconds after which another look is taken at what other nodes do: a notification may be lost. */
const lookAgain = 2_000;
/** Milliseconds that answers under way have when the host stops; open connections have had time before. */
const patience = 3_000;

export function createTurnRegistry({ clock }: { readonly clock: Clock }): TurnRegistry {
  const turns = new Map<string, Entry & { endedAt: number }>();
  const works = new Set<Promise<void>>();
  const news = createNews(clock);
  let closing = false;

  function forget(): void {
    const ended = [...turns].filter(([, { end }]) => end !== null);
    const tooMany = ended.length - mostEnded;
    ended.forEach(([conversation, { endedAt }], index) => {
      if (index < tooMany || clock.now() - endedAt > endedFor) turns.delete(conversation);
    });
  }

  const find = (conversation: string, messageId: string): Entry | null => {
    const entry = turns.get(conversation);
    return entry?.turn.messageId === messageId ? entry : null;
  };

  return {
    find,
    add(turn) {
      forget();
      const entry = { turn, end: null as TurnEnd | null, endedAt: 0 };
      turns.delete(turn.conversation);
      turns.set(turn.conversation, entry);
      void turn.ended.then((end) => Object.assign(entry, { end, endedAt: clock.now() }));
    },
    running(conversation, messageId) {
      const entry = find(conversation, messageId);
      return entry !== null && entry.end === null ? entry.turn : null;
    },
    isBusy: (conversation) => turns.get(conversation)?.end === null,
    inTurn: createQueues(),
    track(work) {
      const tracked = work.finally(() => works.delete(tracked));
      works.add(tracked);
    },
    heard: news.heard,
    news: news.next,
    isClosing: () => closing,
    async close() {
      closing = true;
      news.hearAll();
      const all = Promise.all(works);
      await Promise.race([all, clock.sleep(patience)]);
      for (const { turn, end } of turns.values()) if (end === null) turn.cancel();
      await all;
    },
  };
}

/** Works of one conversation follow each other, whether the one before succeeded or not. */
function createQueues(): TurnRegistry['inTurn'] {
  const queues = new Map<string, Promise<unknown>>();
  return async (conversation, work) => {
    const before = queues.get(conversation) ?? Promise.resolve();
    const mine = before.then(work, work);
    const quiet = mine.catch(() => undefined);
    queues.set(conversation, quiet);
    try {
      return await mine;
    } finally {
      if (queues.get(conversation) === quiet) queues.delete(conversation);
    }
  };
}

function createNews(clock: Pick<Clock, 'after'>) {
  const listeners = new Map<string, Set<() => void>>();
  const heard = (conversation: string): void => {
    for (const listener of listeners.get(conversation) ?? []) listener();
    listeners.delete(conversation);
  };
  return {
    heard,
    hearAll(): void {
      for (const conversation of listeners.keys()) heard(conversation);
    },
    next: (conversation: string): Promise<void> =>
      new Promise((resolve) => {
        const waiting = listeners.get(conversation) ?? new Set();
        listeners.set(conversation, waiting);
        const listener = (): void => {
          undo();
          waiting.delete(listener);
          resolve();
        };
        const undo = clock.after(lookAgain, listener);
        waiting.add(listener);
      }),
  };
}
