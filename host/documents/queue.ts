import type { Clock } from '#plugin-api';

export interface QueueLimits {
  /** Documents that may wait. */
  readonly waiting: number;
  /** Milliseconds that a document may wait. */
  readonly wait: number;
}

/** Lets one holder in at a time: the callers that wait take turns, each with its documents in their order. */
export interface Queue {
  /**
   * Waits for its time. The returned function lets the next one in.
   *
   * @param caller who takes turns with others
   * @throws what `refuse` creates, if too many are waiting or the wait is too long; the signal's reason if aborted
   */
  enter(signal: AbortSignal, refuse: () => Error, caller: string): Promise<() => void>;
}

interface Waiting {
  readonly caller: string;
  readonly enter: () => void;
}

export function createQueue({ waiting: most, wait }: QueueLimits, clock: Pick<Clock, 'after'>): Queue {
  const line: Waiting[] = [];
  /** The callers of a line, in the order of their last turns. */
  let turns: string[] = [];
  let isTaken = false;
  const begin = (caller: string): void => {
    turns = [...turns.filter((one) => one !== caller), caller];
  };
  const leave = (): void => {
    // One that has had no turn yet comes first: its place is -1.
    const next = line.reduce<Waiting | undefined>(
      (best, one) => (best && turns.indexOf(best.caller) <= turns.indexOf(one.caller) ? best : one),
      undefined,
    );
    if (next === undefined) {
      isTaken = false;
      turns = [];
      return;
    }
    line.splice(line.indexOf(next), 1);
    begin(next.caller);
    next.enter();
  };
  return {
    async enter(signal, refuse, caller) {
      signal.throwIfAborted();
      if (!isTaken) {
        isTaken = true;
        begin(caller);
        return leave;
      }
      if (line.length >= most) throw refuse();
      return new Promise((resolve, reject) => {
        const stopWaiting = (): void => {
          undo();
          signal.removeEventListener('abort', abort);
        };
        const quit = (error: Error): void => {
          stopWaiting();
          line.splice(line.indexOf(waiting), 1);
          reject(error);
        };
        const waiting: Waiting = {
          caller,
          enter() {
            stopWaiting();
            resolve(leave);
          },
        };
        const abort = (): void => quit(signal.reason as Error);
        const undo = clock.after(wait, () => quit(refuse()));
        signal.addEventListener('abort', abort, { once: true });
        line.push(waiting);
      });
    },
  };
}
