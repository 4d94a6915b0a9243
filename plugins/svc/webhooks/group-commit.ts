import type { EmitParts } from './emit.ts';
import type { NewEvent, Store } from './store/store-contract.ts';

const maxGroupSize = 500;

export interface GroupCommitParts {
  readonly store: Pick<Store, 'add'>;
  readonly retryWhileUnavailable: EmitParts['retryWhileUnavailable'];
  readonly isUnavailable: (error: unknown) => boolean;
  /** Concurrent transactions: 1 if the database has a single writer. */
  readonly writers: number;
}

/**
 * Stores events that arrive together in one durable transaction. While it is written, the next group gathers, so under
 * load each event costs less. A group with ordered deliveries is written alone, because their ids define the order.
 */
export function createGroupCommit({
  store,
  retryWhileUnavailable,
  isUnavailable,
  writers,
}: GroupCommitParts): (event: NewEvent) => Promise<void> {
  interface WaitingEvent {
    readonly event: NewEvent;
    readonly resolve: () => void;
    readonly reject: (error: unknown) => void;
  }
  const waiting: WaitingEvent[] = [];
  let writing = 0;
  let scheduled = false;
  /** A group with ordered deliveries is being written. */
  let isExclusive = false;

  const add = (events: readonly NewEvent[]): Promise<void> =>
    retryWhileUnavailable((again) => store.add(events, { durable: true, again }));

  async function write(group: readonly WaitingEvent[]): Promise<void> {
    try {
      await add(group.map(({ event }) => event));
      for (const { resolve } of group) resolve();
    } catch (error) {
      // One event that cannot be stored must not fail the others, unless the database is unavailable for all.
      if (group.length === 1 || isUnavailable(error)) for (const { reject } of group) reject(error);
      else for (const { event, resolve, reject } of group) await add([event]).then(resolve, reject);
    }
  }

  function begin(): void {
    scheduled = false;
    if (waiting.length === 0 || isExclusive || writing >= writers) return;
    const isOrdered =
      writers > 1 &&
      waiting.slice(0, maxGroupSize).some(({ event }) => event.deliveries.some(({ orderKey }) => orderKey !== null));
    if (isOrdered && writing > 0) return;
    isExclusive = isOrdered;
    writing += 1;
    void write(waiting.splice(0, maxGroupSize)).finally(() => {
      writing -= 1;
      isExclusive = false;
      begin();
    });
    schedule();
  }

  function schedule(): void {
    if (scheduled || waiting.length === 0 || isExclusive || writing >= writers) return;
    scheduled = true;
    setImmediate(begin);
  }

  return (event) =>
    new Promise((resolve, reject) => {
      waiting.push({ event, resolve, reject });
      schedule();
    });
}
