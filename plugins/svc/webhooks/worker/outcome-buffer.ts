import type { Clock } from '#plugin-api';
import type { CompletedAttempt } from '../attempt.ts';

/** Milliseconds until a result is written again that the database rejects while it accepts others. */
const retryInterval = 2_000;

/** Results of attempts that are not written yet. None is dropped while the process runs. */
export interface OutcomeBuffer {
  add(completed: CompletedAttempt): void;
  /** Results to write now. `suspect`: part of a batch that was rejected; nothing else may join its transaction. */
  take(): { readonly batch: readonly CompletedAttempt[]; readonly suspect: boolean };
  written(): void;
  /** The batch was not written. @param isUnavailable the database accepts nothing now, so these results are not the cause. */
  rejected(batch: readonly CompletedAttempt[], isUnavailable: boolean): void;
  /** Results that may be written now. */
  count(): number;
  /** Makes rejected results due, for a last try. */
  retryNow(): void;
}

/**
 * One result that cannot be written (a trigger rejects it, its row is corrupt) must not block the others. A rejected batch
 * is halved until that result is found; it is then retried alone every two seconds.
 */
export function createOutcomeBuffer({
  clock,
  onChange,
}: {
  readonly clock: Pick<Clock, 'after'>;
  readonly onChange: () => void;
}): OutcomeBuffer {
  let ready: CompletedAttempt[] = [];
  let maxBatch = Infinity;
  const suspects: CompletedAttempt[] = [];
  const setAside = new Set<CompletedAttempt>();

  function postpone(completed: CompletedAttempt): void {
    setAside.add(completed);
    clock.after(retryInterval, () => {
      if (!setAside.delete(completed)) return;
      suspects.push(completed);
      onChange();
    });
  }

  return {
    add: (completed) => void ready.push(completed),
    take() {
      const suspect = suspects.shift();
      if (suspect !== undefined) return { batch: [suspect], suspect: true };
      if (ready.length === 0) maxBatch = Infinity;
      const batch = ready.slice(0, maxBatch);
      ready = ready.slice(batch.length);
      return { batch, suspect: maxBatch !== Infinity };
    },
    written() {
      maxBatch = maxBatch >= 512 ? Infinity : maxBatch * 2;
    },
    rejected(batch, isUnavailable) {
      const [only] = batch;
      if (isUnavailable || only === undefined) ready = [...batch, ...ready];
      else if (batch.length === 1) postpone(only);
      else {
        maxBatch = Math.ceil(batch.length / 2);
        ready = [...batch, ...ready];
      }
    },
    count: () => ready.length + suspects.length,
    retryNow() {
      suspects.push(...setAside);
      setAside.clear();
    },
  };
}
