import type { Patience } from './patience.ts';
import type { NewEvent, Store } from './store/store-contract.ts';

const mostAtOnce = 500;

export interface GroupCommitParts {
  readonly store: Pick<Store, 'add'>;
  /** Goes on trying while the database is out of reach. */
  readonly patiently: Patience;
  /** Groups written at once: 1 where the database has one writer. */
  readonly writers: number;
}

/**
 * Events that arrive together are stored in one transaction, made durable once for all of them. While one transaction is
 * written the next group gathers, so that the busier it is, the less each event costs. Nothing is written beside events
 * that are delivered in order: their ids are their order.
 */
export function createGroupCommit({ store, patiently, writers }: GroupCommitParts): (event: NewEvent) => Promise<void> {
  interface Waiting {
    readonly event: NewEvent;
    readonly resolve: () => void;
    readonly reject: (error: unknown) => void;
  }
  const waiting: Waiting[] = [];
  let writing = 0;
  let scheduled = false;
  /** A group that nothing may overtake is being written. */
  let alone = false;

  const add = (events: readonly NewEvent[]): Promise<void> =>
    patiently((again) => store.add(events, { durable: true, again }));

  async function write(group: readonly Waiting[]): Promise<void> {
    try {
      await add(group.map(({ event }) => event));
      for (const { resolve } of group) resolve();
    } catch (error) {
      // One event that cannot be stored must not take the others with it; a database that stays away takes all.
      if (group.length === 1 || patiently.isOver(error)) for (const { reject } of group) reject(error);
      else for (const { event, resolve, reject } of group) await add([event]).then(resolve, reject);
    }
  }

  function begin(): void {
    scheduled = false;
    if (waiting.length === 0 || alone || writing >= writers) return;
    const inOrder =
      writers > 1 &&
      waiting.slice(0, mostAtOnce).some(({ event }) => event.deliveries.some(({ orderKey }) => orderKey !== null));
    if (inOrder && writing > 0) return;
    alone = inOrder;
    writing += 1;
    void write(waiting.splice(0, mostAtOnce)).finally(() => {
      writing -= 1;
      alone = false;
      begin();
    });
    schedule();
  }

  function schedule(): void {
    if (scheduled || waiting.length === 0 || alone || writing >= writers) return;
    scheduled = true;
    setImmediate(begin);
  }

  return (event) =>
    new Promise((resolve, reject) => {
      waiting.push({ event, resolve, reject });
      schedule();
    });
}
