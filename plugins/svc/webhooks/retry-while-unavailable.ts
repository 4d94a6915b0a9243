import type { HostApi } from '#plugin-api';

/** Milliseconds that an event waits for the database at most. */
const maxWait = 60_000;
const retryInterval = 250;

/** Runs the work and repeats it while the database is unavailable, for at most a minute. Rejects with the last error. */
export interface RetryWhileUnavailable {
  /** @param work `again`: it ran before, and may have been committed if only the connection broke. */
  <Result>(work: (again: boolean) => Promise<Result>): Promise<Result>;
  isUnavailable(error: unknown): boolean;
}

export function createRetryWhileUnavailable(
  { database, clock }: Pick<HostApi, 'database' | 'clock'>,
  elapsed: () => number,
): RetryWhileUnavailable {
  async function run<Result>(work: (again: boolean) => Promise<Result>): Promise<Result> {
    const until = elapsed() + maxWait;
    for (let again = false; ; again = true) {
      try {
        return await work(again);
      } catch (error) {
        if (!database.isUnavailable(error) || elapsed() >= until) throw error;
        await clock.sleep(retryInterval);
      }
    }
  }
  return Object.assign(run, { isUnavailable: (error: unknown) => database.isUnavailable(error) });
}
