import type { Patience } from './patience.ts';
import type { NewEvent, Store } from './store/store-contract.ts';

const mostAtOnce = 500;

/**
 * Events that arrive together are stored in one transaction, made durable once for all of them. While one transaction is
 * written the next group gathers, so that the busier it is, the less each event costs.
 *
 * @param patiently goes on trying while the database is out of reach.
 */
export function createGroupCommit(store: Pick<Store, 'add'>, patiently: Patience): (event: NewEvent) => Promise<void> {
  interface Waiting {
    readonly event: NewEvent;
    readonly resolve: () => void;
    readonly reject: (error: unknown) => void;
  }
  const waiting: Waiting[] = [];
  let writing = false;

  const add = (events: readonly NewEvent[]): Promise<void> => patiently((again) => store.add(events, { durable: true, again }));

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      const group = waiting.splice(0, mostAtOnce);
      try {
        await add(group.map(({ event }) => event));
        for (const { resolve } of group) resolve();
      } catch (error) {
        // One event that cannot be stored must not take the others with it; a database that stays away takes all.
        if (group.length === 1 || patiently.isOver(error)) for (const { reject } of group) reject(error);
        else for (const { event, resolve, reject } of group) await add([event]).then(resolve, reject);
      }
    }
    writing = false;
  }

  return (event) =>
    new Promise((resolve, reject) => {
      waiting.push({ event, resolve, reject });
      if (writing) return;
      writing = true;
      setImmediate(() => void write());
    });
}
