/**
 * Runs a task for every item, up to `bound` at a time, and returns the results in the order of the items. Throws the first
 * error at once: no further task starts, and the signal of the running ones is aborted.
 *
 * @param bound 1 or more.
 */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  bound: number,
  {
    task,
    signal,
  }: { readonly task: (item: Item, signal: AbortSignal) => Promise<Result>; readonly signal?: AbortSignal | undefined },
): Promise<Result[]> {
  const stop = new AbortController();
  const both = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
  const results: Result[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < items.length && !stop.signal.aborted) {
      const index = next;
      next += 1;
      results[index] = await task(items[index] as Item, both);
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(bound, items.length) }, work));
  } catch (error) {
    stop.abort();
    throw error;
  }
  return results;
}
