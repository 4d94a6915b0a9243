/** Runs work of one key in sequence, and work of different keys in parallel. */
export interface Mutex<Key> {
  /** Runs after all earlier work of the key has settled, even if that failed. Returns the result. */
  runExclusive<Result>(key: Key, work: () => Promise<Result>): Promise<Result>;
  /** Whether work of the key is running or queued. */
  isBusy(key: Key): boolean;
}

/** For this process. For work of which all nodes together may run one at a time, see `database.lock`. */
export function createMutex<Key = string>(): Mutex<Key> {
  const queues = new Map<Key, Promise<unknown>>();
  return {
    isBusy: (key) => queues.has(key),
    runExclusive(key, work) {
      const result = (queues.get(key) ?? Promise.resolve()).then(work).finally(() => {
        if (queues.get(key) === settled) queues.delete(key);
      });
      const settled = result.catch(() => undefined);
      queues.set(key, settled);
      return result;
    },
  };
}
