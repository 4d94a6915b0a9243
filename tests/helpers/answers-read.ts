import { subscribe, unsubscribe } from 'node:diagnostics_channel';

export interface AnswersRead {
  /** Calls back once as many answers have been read as are waited for: one's own is among them then, in whatever order they came. */
  wait(callback: () => void): void;
  stop(): void;
}

const channels = { head: 'svc:outbound:head', body: 'svc:outbound:body' } as const;

/**
 * Watches what the guarded fetch reads in this process: the heads of answers of an origin (`http://127.0.0.1:80`), or pieces of their
 * bodies. A test whose next step must not come before an answer has been read waits for that, not for a time.
 */
export function watchAnswers(origin: string, part: keyof typeof channels): AnswersRead {
  let waiting: (() => void)[] = [];
  let read = 0;
  const look = (): void => {
    if (waiting.length === 0 || read < waiting.length) return;
    const complete = waiting;
    [waiting, read] = [[], 0];
    // Whoever sent the request is told right after this.
    setImmediate(() => {
      for (const callback of complete) callback();
    });
  };
  const note = (message: unknown): void => {
    if ((message as { readonly origin: string }).origin !== origin) return;
    read += 1;
    look();
  };
  subscribe(channels[part], note);
  return {
    wait(callback) {
      waiting.push(callback);
      look();
    },
    stop: () => void unsubscribe(channels[part], note),
  };
}
