import type { NewEvent, Store } from './store/store-contract.ts';

const mostAtOnce = 500;

/**
 * Events that arrive together are stored in one transaction, made durable once for all of them. While one transaction is
 * written the next group gathers, so that the busier it is, the less each event costs.
 */
export function createGroupCommit(store: Pick<Store, 'add'>): (event: NewEvent) => Promise<void> {
  interface Waiting {
    readonly event: NewEvent;
    readonly resolve: () => void;
    readonly reject: (error: unknown) => void;
  }
  let waiting: Waiting[] = [];
  let writing = false;

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      const group = waiting.splice(0, mostAtOnce);
      try {
        await store.add(group.map(({ event }) => event), { durable: true });
        for (const { resolve } of group) resolve();
      } catch (error) {
        // One event that cannot be stored must not take the others with it.
        if (group.length === 1) group[0]?.reject(error);
        else for (const { event, resolve, reject } of group) await store.add([event], { durable: true }).then(resolve, reject);
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
