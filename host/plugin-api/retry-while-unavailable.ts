import type { Clock } from './clock.ts';
import type { DatabaseApi } from './database.ts';

export interface RetryInit {
  readonly host: {
    readonly database: Pick<DatabaseApi, 'isUnavailable'>;
    readonly clock: Pick<Clock, 'sleep'>;
  };
  /** Milliseconds between two tries. */
  readonly interval: number;
  /** Whether to stop trying. */
  readonly isOver: () => boolean;
  /** Ends the wait between two tries. */
  readonly signal?: AbortSignal;
}

/**
 * Runs the work and repeats it while the database is unavailable. Rejects with the last error.
 *
 * @param work `again`: it ran before, and may have been committed if only the connection broke.
 */
export async function retryWhileUnavailable<Result>(
  { host: { database, clock }, interval, isOver, signal }: RetryInit,
  work: (again: boolean) => Promise<Result>,
): Promise<Result> {
  for (let again = false; ; again = true) {
    try {
      return await work(again);
    } catch (error) {
      if (!database.isUnavailable(error) || isOver()) throw error;
      await clock.sleep(interval, signal);
    }
  }
}
