import type { Clock } from '#plugin-api';
import { postponed, type CompletedAttempt, type MakeAttempt } from '../attempt.ts';
import { leaseDuration, type Job, type Store } from '../store/store-contract.ts';
import type { Worker } from './worker-contract.ts';

/** Longer waits are left to the queue, in milliseconds. */
const longestWait = 2_000;

export interface SendNowParts {
  readonly store: Store;
  readonly attempt: MakeAttempt;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: { error(message: string, fields: Record<string, unknown>): void };
  /** Called after a result was written. */
  readonly onSettled: (completed: CompletedAttempt) => Promise<void> | null;
  /** Writes a result as soon as the database accepts it. */
  readonly retryLater: (completed: CompletedAttempt) => void;
  readonly isStopping: () => boolean;
  /** The ids of paused endpoints, whose deliveries wait in the queue. */
  readonly paused: () => Promise<readonly string[]>;
}

type End = 'delivered' | 'failed' | 'pending';

/** Sends deliveries at once, outside the endpoint queues, with near retries. Later retries are left to the queue. */
export function createSendNow({
  store,
  attempt,
  clock,
  log,
  onSettled,
  retryLater,
  isStopping,
  paused,
}: SendNowParts): Worker['sendNow'] {
  /** Returns whether this process still holds the job. */
  async function write(completed: CompletedAttempt): Promise<boolean> {
    try {
      const { stale } = await store.exchange({ finished: [completed.result], released: [], claims: [] });
      if (stale.length > 0) return false;
    } catch (error) {
      log.error('Failed to store the result of a webhook delivery; retrying', {
        event: 'webhook_result_write_failed',
        delivery: completed.result.job.uuid,
        error,
      });
      retryLater(completed);
      return false;
    }
    await onSettled(completed);
    return true;
  }

  async function sendOne(job: Job): Promise<End> {
    for (let current: Job | undefined = job; current !== undefined;) {
      const completed: CompletedAttempt = await attempt(current, { probe: false });
      const { state, delay } = completed.result;
      const isNear = state === 'pending' && delay <= longestWait && !isStopping();
      // The longer delay keeps the queue away until then; if this process dies, the queue takes over.
      const isWritten = await write(
        isNear ? { ...completed, result: { ...completed.result, delay: delay + leaseDuration } } : completed,
      );
      if (state !== 'pending') return state;
      if (!isNear || !isWritten || isStopping()) return 'pending';
      await clock.sleep(delay + 1);
      [current] = await store.claimByUuid([job.uuid]).catch((): Job[] => []);
    }
    return 'pending';
  }

  return async (uuids, { evenPaused = false } = {}) => {
    const waiting = new Set(evenPaused ? [] : await paused());
    const jobs = await store.claimByUuid(uuids);
    const ends = await Promise.all(
      jobs.map(async (job): Promise<End> => {
        if (!waiting.has(job.endpointId)) return sendOne(job);
        await write({ result: postponed(job), outcome: null });
        return 'pending';
      }),
    );
    return {
      delivered: ends.filter((end) => end === 'delivered').length,
      failed: ends.filter((end) => end === 'failed').length,
    };
  };
}
