import type { Clock } from '#plugin-api';
import type { Attempted, MakeAttempt } from '../attempt.ts';
import { leaseTime, type Job, type Store } from '../store/store-contract.ts';

/** Longer waits are left to the queue, in milliseconds. */
const longestWait = 2_000;

export interface SendNowParts {
  readonly store: Store;
  readonly attempt: MakeAttempt;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: { error(message: string, fields: Record<string, unknown>): void };
  /** An outcome was written. */
  readonly settled: (attempted: Attempted) => Promise<void> | null;
  /** Writes an outcome as soon as it can be. */
  readonly later: (attempted: Attempted) => void;
  readonly isStopping: () => boolean;
}

type End = 'delivered' | 'failed' | 'pending';

/** Sends deliveries at once, past the lanes, with those of their retries that are near; the rest is the queue's. */
export function createSendNow({
  store,
  attempt,
  clock,
  log,
  settled,
  later,
  isStopping,
}: SendNowParts): (uuids: readonly string[]) => Promise<{ delivered: number; failed: number }> {
  /** Answers whether the job is still this process's to go on with. */
  async function write(attempted: Attempted): Promise<boolean> {
    try {
      const { stale } = await store.turn({ finished: [attempted.finish], released: [], claims: [] });
      if (stale.length > 0) return false;
    } catch (error) {
      log.error('The outcome of a webhook delivery could not be written; trying again.', {
        delivery: attempted.finish.job.uuid,
        error,
      });
      later(attempted);
      return false;
    }
    await settled(attempted);
    return true;
  }

  async function sendOne(job: Job): Promise<End> {
    for (let current: Job | undefined = job; current !== undefined;) {
      const attempted: Attempted = await attempt(current, { probe: false });
      const { state, delay } = attempted.finish;
      const isNear = state === 'pending' && delay <= longestWait && !isStopping();
      // The queue leaves it alone meanwhile, and takes it when this process is gone.
      const isWritten = await write(
        isNear ? { ...attempted, finish: { ...attempted.finish, delay: delay + leaseTime } } : attempted,
      );
      if (state !== 'pending') return state;
      if (!isNear || !isWritten || isStopping()) return 'pending';
      await clock.sleep(delay + 1);
      [current] = await store.claimThese([job.uuid]).catch((): Job[] => []);
    }
    return 'pending';
  }

  return async (uuids) => {
    const ends = await Promise.all((await store.claimThese(uuids)).map(sendOne));
    return {
      delivered: ends.filter((end) => end === 'delivered').length,
      failed: ends.filter((end) => end === 'failed').length,
    };
  };
}
