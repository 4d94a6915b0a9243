import { subscribe, unsubscribe } from 'node:diagnostics_channel';

export interface ResponseWatch {
  /** Calls back once as many responses were read as callers wait for, in any order. */
  wait(callback: () => void): void;
  stop(): void;
}

const channels = { head: 'svc:outbound:head', body: 'svc:outbound:body' } as const;

/**
 * Watches the guarded fetch of this process: heads of responses of an origin (`http://127.0.0.1:80`), or chunks of their
 * bodies. Lets a test wait until a response was read, instead of waiting for a time.
 */
export function watchResponses(origin: string, part: keyof typeof channels): ResponseWatch {
  let waiting: (() => void)[] = [];
  let read = 0;
  const look = (): void => {
    if (waiting.length === 0 || read < waiting.length) return;
    const complete = waiting;
    [waiting, read] = [[], 0];
    // The sender of the request continues right after this.
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
