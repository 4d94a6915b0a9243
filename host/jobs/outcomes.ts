import { AsyncResource } from 'node:async_hooks';
import type { Clock } from '#plugin-api';
import type { Database } from '../database/database-contract.ts';
import type { CompletedJob, JobStore } from './job-store.ts';

export interface OutcomesDependencies {
  readonly database: Pick<Database, 'isUnavailable'>;
  readonly store: Pick<JobStore, 'complete'>;
  readonly clock: Pick<Clock, 'sleep'>;
}

export interface Outcomes {
  /** Stores a completion together with others. Returns whether the job was still held. */
  complete(job: CompletedJob): Promise<boolean>;
  /** Repeats a write while the database is away, until it is stored or the signal is aborted. */
  write<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result>;
}

/** Completions that one statement stores. */
const mostAtOnce = 256;
/** Milliseconds between two tries while the database is away. */
const retryDelay = 500;

interface Waiting {
  readonly job: CompletedJob;
  resolve(isHeld: boolean): void;
  reject(error: unknown): void;
}

/** Writes what becomes of jobs: those that complete in the same turn of the event loop in one statement. */
export function createOutcomes({ database, store, clock }: OutcomesDependencies): Outcomes {
  const waiting: Waiting[] = [];
  let isFlushing = false;

  async function flush(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, mostAtOnce);
      try {
        const held = await store.complete(batch.map(({ job }) => job));
        for (const { job, resolve } of batch) resolve(held.has(job.id));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isFlushing = false;
  }
  // Not inside a transaction of the attempt that happens to complete first.
  const flushDetached = AsyncResource.bind(flush);

  return {
    complete(job) {
      return new Promise((resolve, reject) => {
        waiting.push({ job, resolve, reject });
        if (isFlushing) return;
        isFlushing = true;
        setImmediate(() => void flushDetached());
      });
    },
    async write(work, signal) {
      for (;;) {
        try {
          return await work();
        } catch (error) {
          if (!database.isUnavailable(error) || signal.aborted) throw error;
          await clock.sleep(retryDelay, signal);
        }
      }
    },
  };
}
