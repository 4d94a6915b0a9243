/** Lets work happen one after the other. */
export interface Turns {
  /** Runs when all before it has settled; answers its outcome. */
  take<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Whether something is running or waiting. */
  busy(): boolean;
}

export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return {
    busy: () => waiting > 0,
    take(work) {
      waiting += 1;
      const turn = last.then(work).finally(() => {
        waiting -= 1;
      });
      last = turn.catch(() => undefined);
      return turn;
    },
  };
}
