import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from './clock.ts';
import type { DatabaseApi } from './database.ts';

/**
 * A function whose code loads on the first call, so that unused code does not slow the start. Concurrent calls share one
 * load; after a failed load the next call tries again.
 *
 * @param load loads and creates the function: `async () => (await import('./report.ts')).createReport(host)`. Import only
 *   files of your own plugin, never a name from external input.
 */
export function lazy<Args extends readonly unknown[], Result>(
  load: () => Promise<(...args: Args) => Result | Promise<Result>>,
): (...args: Args) => Promise<Result> {
  let loading: ReturnType<typeof load> | undefined;
  return async (...args) => {
    const attempt = (loading ??= load());
    try {
      await attempt;
    } catch (error) {
      if (loading === attempt) loading = undefined;
      throw error;
    }
    return (await attempt)(...args);
  };
}

/** A value that is loaded by the first call, and again if that failed: `lazyValue(async () => (await import('./plans.ts')).plans)`. */
export function lazyValue<Value>(load: () => Promise<Value>): () => Promise<Value> {
  return lazy(async () => {
    const value = await load();
    return () => value;
  });
}

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

/** Characters. Work on shorter texts takes a few milliseconds at most. */
const longText = 50_000;
const turns = createMutex<'texts'>();

/**
 * Runs work in proportion to a text: at once if it is short. Work on long texts of all requests runs piece by piece, and other
 * requests go on between the pieces (D46).
 *
 * @param work synchronous: it must not wait for another turn
 */
export async function inTurn<Result>(text: string, work: () => Result): Promise<Result> {
  if (text.length < longText) return work();
  return turns.runExclusive('texts', async () => {
    await nextTurn();
    return work();
  });
}

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

export interface RetryInit {
  readonly host: {
    readonly database: Pick<DatabaseApi, 'isUnavailable'>;
    readonly clock: Pick<Clock, 'sleep'>;
  };
  /** Milliseconds between two tries. */
  readonly interval: number;
  /** Whether to stop trying. */
  readonly isOver: () => boolean;
  /** Ends the wait between two tries. */
  readonly signal?: AbortSignal;
}

/**
 * Runs the work and repeats it while the database is unavailable. Rejects with the last error.
 *
 * @param work `again`: it ran before, and may have been committed if only the connection broke.
 */
export async function retryWhileUnavailable<Result>(
  { host: { database, clock }, interval, isOver, signal }: RetryInit,
  work: (again: boolean) => Promise<Result>,
): Promise<Result> {
  for (let again = false; ; again = true) {
    try {
      return await work(again);
    } catch (error) {
      if (!database.isUnavailable(error) || isOver()) throw error;
      await clock.sleep(interval, signal);
    }
  }
}
