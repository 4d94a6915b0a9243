import { AsyncResource } from 'node:async_hooks';
import { inGroups, retryWhileUnavailable, type Clock } from '#plugin-api';
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

/** Writes what becomes of jobs: those that complete in the same turn of the event loop in one statement. */
export function createOutcomes({ store, ...host }: OutcomesDependencies): Outcomes {
  // Not inside a transaction of the attempt that happens to complete first.
  const completeAll = AsyncResource.bind(async (jobs: readonly CompletedJob[]) => {
    const held = await store.complete(jobs);
    return jobs.map(({ id }) => held.has(id));
  });
  return {
    complete: inGroups(completeAll, { most: mostAtOnce, waits: true }),
    write: (work, signal) =>
      retryWhileUnavailable({ host, interval: retryDelay, isOver: () => signal.aborted, signal }, work),
  };
}
