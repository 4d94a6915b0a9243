import type { HostApi } from '#plugin-api';

/** Longest that an event waits for the database, in milliseconds. */
const longest = 60_000;
const pause = 250;

/** Does the work, and again while the database is out of reach, for a minute at most. Rejects with the last error. */
export interface Patience {
  /** @param work is told whether it was tried before: a try whose connection broke may have been carried out. */
  <Result>(work: (again: boolean) => Promise<Result>): Promise<Result>;
  isOver(error: unknown): boolean;
}

export function createPatience(
  { database, clock }: Pick<HostApi, 'database' | 'clock'>,
  elapsed: () => number,
): Patience {
  async function patiently<Result>(work: (again: boolean) => Promise<Result>): Promise<Result> {
    const until = elapsed() + longest;
    for (let again = false; ; again = true) {
      try {
        return await work(again);
      } catch (error) {
        if (!database.isUnavailable(error) || elapsed() >= until) throw error;
        await clock.sleep(pause);
      }
    }
  }
  return Object.assign(patiently, { isOver: (error: unknown) => database.isUnavailable(error) });
}
