import type { Clock } from '#plugin-api';

export interface QueueLimits {
  /** Documents that may wait. */
  readonly waiting: number;
  /** Milliseconds that a document may wait. */
  readonly wait: number;
}

/** Lets one holder in at a time, first come first served. */
export interface Queue {
  /**
   * Waits for its time. The returned function lets the next one in.
   *
   * @throws what `refuse` creates, if too many are waiting or the wait is too long; the signal's reason if aborted
   */
  enter(signal: AbortSignal, refuse: () => Error): Promise<() => void>;
}

export function createQueue({ waiting, wait }: QueueLimits, clock: Pick<Clock, 'after'>): Queue {
  const line: (() => void)[] = [];
  let isTaken = false;
  const leave = (): void => {
    const next = line.shift();
    if (next) next();
    else isTaken = false;
  };
  return {
    async enter(signal, refuse) {
      signal.throwIfAborted();
      if (!isTaken) {
        isTaken = true;
        return leave;
      }
      if (line.length >= waiting) throw refuse();
      return new Promise((resolve, reject) => {
        const stopWaiting = (): void => {
          undo();
          signal.removeEventListener('abort', abort);
        };
        const quit = (error: Error): void => {
          stopWaiting();
          line.splice(line.indexOf(enter), 1);
          reject(error);
        };
        const enter = (): void => {
          stopWaiting();
          resolve(leave);
        };
        const abort = (): void => quit(signal.reason as Error);
        const undo = clock.after(wait, () => quit(refuse()));
        signal.addEventListener('abort', abort, { once: true });
        line.push(enter);
      });
    },
  };
}
