interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

export interface GroupsInit {
  /** Items of a group. Default 500. */
  readonly most?: number;
  /** Whether the first item waits for those that come in the same turn of the event loop. */
  readonly waits?: boolean;
}

/**
 * Does concurrent work in groups: while one group is worked on, the next gathers. Under load each item costs less, and
 * waits once for a lock instead of once for each item before it.
 *
 * The work runs in the asynchronous context of any of the items, and must not add an item and wait for it.
 *
 * @param work returns a result for each item. If it fails, all items of its group fail.
 */
export function inGroups<Item, Result>(
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
  { most = 500, waits = false }: GroupsInit = {},
): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let isWorking = false;

  async function workOnAll(): Promise<void> {
    while (waiting.length > 0) {
      const group = waiting.splice(0, most);
      try {
        const results = await work(group.map(({ item }) => item));
        group.forEach(({ resolve }, index) => resolve(results[index] as Result));
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    isWorking = false;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (isWorking) return;
      isWorking = true;
      if (waits) setImmediate(() => void workOnAll());
      else void workOnAll();
    });
}
