import { createMutex, type Clock } from '#plugin-api';
import type { AnswerStream, AnswerEnd } from './answer-stream.ts';

interface Entry {
  readonly stream: AnswerStream;
  end: AnswerEnd | null;
}

/** The answers that this node is generating, and those it has just finished. */
export interface LocalAnswers {
  add(stream: AnswerStream): void;
  /** The answer to a message, running or just finished. */
  find(conversation: string, messageId: string): Readonly<Entry> | null;
  /** The answer to a message while it is generated. */
  findRunning(conversation: string, messageId: string): AnswerStream | null;
  isBusy(conversation: string): boolean;
  /** Runs tasks of one conversation one after the other. */
  runExclusive<Result>(conversation: string, task: () => Promise<Result>): Promise<Result>;
  /** Makes `close` wait for a task, which must never reject. */
  track(task: Promise<void>): void;
  /** Reports that an answer of the conversation ended on another node. */
  notify(conversation: string): void;
  /** Resolves at the next notification for the conversation, or after a polling interval. */
  waitForChange(conversation: string): Promise<void>;
  isClosing(): boolean;
  close(): Promise<void>;
}

/** How many finished answers stay available to pages that come back for them, and for how many milliseconds. */
const maxFinished = 500;
const finishedLifetime = 120_000;
/** Milliseconds after which the state on other nodes is read again, because a notification may be lost. */
const pollInterval = 2_000;
/** Milliseconds that running answers get when the host stops, after its connections had time to finish. */
const shutdownTimeoutMs = 3_000;

export function createLocalAnswers({ clock }: { readonly clock: Clock }): LocalAnswers {
  const answers = new Map<string, Entry & { endedAt: number }>();
  const tasks = new Set<Promise<void>>();
  const signals = createSignals(clock);
  let closing = false;

  function forgetFinished(): void {
    const finished = [...answers].filter(([, { end }]) => end !== null);
    const excess = finished.length - maxFinished;
    finished.forEach(([conversation, { endedAt }], index) => {
      if (index < excess || clock.now() - endedAt > finishedLifetime) answers.delete(conversation);
    });
  }

  const find = (conversation: string, messageId: string): Entry | null => {
    const entry = answers.get(conversation);
    return entry?.stream.messageId === messageId ? entry : null;
  };

  return {
    find,
    add(stream) {
      forgetFinished();
      const entry = { stream, end: null as AnswerEnd | null, endedAt: 0 };
      answers.delete(stream.conversation);
      answers.set(stream.conversation, entry);
      void stream.ended.then((end) => Object.assign(entry, { end, endedAt: clock.now() }));
    },
    findRunning(conversation, messageId) {
      const entry = find(conversation, messageId);
      return entry !== null && entry.end === null ? entry.stream : null;
    },
    isBusy: (conversation) => answers.get(conversation)?.end === null,
    runExclusive: createMutex().runExclusive,
    track(task) {
      const tracked = task.finally(() => tasks.delete(tracked));
      tasks.add(tracked);
    },
    notify: signals.notify,
    waitForChange: signals.waitForChange,
    isClosing: () => closing,
    async close() {
      closing = true;
      signals.notifyAll();
      const all = Promise.all(tasks);
      await Promise.race([all, clock.sleep(shutdownTimeoutMs)]);
      for (const { stream, end } of answers.values()) if (end === null) stream.cancel();
      await all;
    },
  };
}

function createSignals(clock: Pick<Clock, 'after'>) {
  const listeners = new Map<string, Set<() => void>>();
  const notify = (conversation: string): void => {
    for (const listener of listeners.get(conversation) ?? []) listener();
    listeners.delete(conversation);
  };
  return {
    notify,
    notifyAll(): void {
      for (const conversation of listeners.keys()) notify(conversation);
    },
    waitForChange: (conversation: string): Promise<void> =>
      new Promise((resolve) => {
        const waiting = listeners.get(conversation) ?? new Set();
        listeners.set(conversation, waiting);
        const listener = (): void => {
          undo();
          waiting.delete(listener);
          resolve();
        };
        const undo = clock.after(pollInterval, listener);
        waiting.add(listener);
      }),
  };
}
