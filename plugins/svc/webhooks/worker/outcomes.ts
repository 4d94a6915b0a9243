import type { Clock } from '#plugin-api';
import type { Attempted } from '../attempt.ts';

/** Until an outcome is tried again that the database refuses while it takes others, in milliseconds. */
const patience = 2_000;

/** What was done and is not written yet. Nothing of it is dropped while the process lives. */
export interface Outcomes {
  add(attempted: Attempted): void;
  /** Those to be written now; `suspect`: one that was refused before, so it must not be written together with anything else. */
  take(): { readonly batch: readonly Attempted[]; readonly suspect: boolean };
  written(): void;
  /** They were not written. @param isUnavailable the database takes nothing at all now: it is not for these very outcomes. */
  refused(batch: readonly Attempted[], isUnavailable: boolean): void;
  /** Those that may be written now. */
  count(): number;
  /** Refused ones become due, for a last try. */
  hurry(): void;
}

/**
 * One outcome that cannot be written (a trigger refuses it, its row is broken) must not hold up the others: a batch that
 * is refused is halved until the one is found, which is then tried alone, now and then.
 */
export function createOutcomes({
  clock,
  changed,
}: {
  readonly clock: Pick<Clock, 'after'>;
  readonly changed: () => void;
}): Outcomes {
  let ready: Attempted[] = [];
  let most = Infinity;
  const suspects: Attempted[] = [];
  const aside = new Set<Attempted>();

  function putAside(attempted: Attempted): void {
    aside.add(attempted);
    clock.after(patience, () => {
      if (!aside.delete(attempted)) return;
      suspects.push(attempted);
      changed();
    });
  }

  return {
    add: (attempted) => void ready.push(attempted),
    take() {
      const suspect = suspects.shift();
      if (suspect !== undefined) return { batch: [suspect], suspect: true };
      if (ready.length === 0) most = Infinity;
      const batch = ready.slice(0, most);
      ready = ready.slice(batch.length);
      return { batch, suspect: most !== Infinity };
    },
    written() {
      most = most >= 512 ? Infinity : most * 2;
    },
    refused(batch, isUnavailable) {
      const [only] = batch;
      if (isUnavailable || only === undefined) ready = [...batch, ...ready];
      else if (batch.length === 1) putAside(only);
      else {
        most = Math.ceil(batch.length / 2);
        ready = [...batch, ...ready];
      }
    },
    count: () => ready.length + suspects.length,
    hurry() {
      suspects.push(...aside);
      aside.clear();
    },
  };
}
