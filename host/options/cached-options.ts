import { randomUUID } from 'node:crypto';
import type { Logger, Undo } from '#plugin-api';
import type { Database } from '../database/database.ts';
import { type CachedOption, type OptionCache, createOptionCache, defaultLimit } from './option-cache.ts';
import { type NewOption, type OptionStore, createOptionStore } from './option-store.ts';

/** Carries the names of changed options to the other processes. */
const channel = 'options';

/** Name of the changed option in a notification of the channel `options`; undefined for anything else. */
export function changedOptionName(payload: string): unknown {
  try {
    return (JSON.parse(payload) as { name?: unknown }).name;
  } catch {
    return undefined;
  }
}

/** Stored options behind the process's cache; knows nothing of hooks and defaults. */
export interface CachedOptions {
  /** Listens for other processes' changes and loads all autoloaded options in one query. */
  load(): Promise<void>;
  stop(): void;
  read(name: string): Promise<CachedOption>;
  /** What `read` returns if that takes no query, else undefined. */
  peek(name: string): CachedOption | undefined;
  /** Caches several options with one query. */
  prime(names: readonly string[]): Promise<void>;
  /** Whether the cache knows that the option does not exist. */
  isKnownAbsent(name: string): boolean;
  /** Makes the next read query the database. */
  refresh(name: string): void;
  /** Whether this process sent a notification of the channel. */
  isOwnChange(payload: string): boolean;
  list(prefix: string): Promise<Map<string, { readonly text: string }>>;
  insert(option: NewOption): Promise<boolean>;
  put(option: NewOption): Promise<void>;
  swap(name: string, from: string, to: string): Promise<boolean>;
  remove(name: string, text?: string): Promise<boolean>;
}

export function createCachedOptions({
  database,
  log,
}: {
  readonly database: Database;
  readonly log: Logger;
}): CachedOptions {
  const store = createOptionStore(database);
  let undo: Undo | null = null;
  const reads = createCachedReads(database, store, () => undo !== null);
  const self = randomUUID();
  const change = createChange({ database, reads, self });

  return {
    async load() {
      undo ??= await database.listen(
        channel,
        (payload) => {
          const { from, name } = JSON.parse(payload) as { from: string; name: string };
          if (from !== self) reads.drop(name);
        },
        reads.clear,
      );
      const watch = reads.cache.watch();
      const found = await store.readAutoloaded();
      for (const [name, option] of found) watch.keep(name, option);
      watch.end();
      log.debug('Options loaded', { event: 'options_loaded', count: found.size });
    },
    stop() {
      undo?.();
      undo = null;
      reads.clear();
    },
    read: reads.read,
    peek: reads.peek,
    prime: reads.prime,
    isKnownAbsent: (name) => !reads.isPrivate(name) && reads.cache.get(name) === null,
    refresh: reads.drop,
    isOwnChange: (payload) => (JSON.parse(payload) as { from: string }).from === self,
    list: (prefix) => store.readPrefix(prefix),
    insert: (option) =>
      change(option.name, { text: option.text, autoload: option.autoload ?? true }, () => store.insert(option)),
    async put(option) {
      const after = option.autoload === undefined ? undefined : { text: option.text, autoload: option.autoload };
      await change(option.name, after, async () => {
        await store.put(option);
        return true;
      });
    },
    swap: (name, from, to) => change(name, undefined, () => store.swap(name, from, to)),
    remove: (name, text) => change(name, null, () => store.remove(name, text)),
  };
}

interface CachedReads {
  readonly cache: OptionCache;
  peek(name: string): CachedOption | undefined;
  read(name: string): Promise<CachedOption>;
  prime(names: readonly string[]): Promise<void>;
  drop(name: string): void;
  clear(): void;
  /** Later readers do not join a query in progress. */
  endSharing(name: string): void;
  /** Whether the current transaction wrote the option. Only its own reads may see that value, so they bypass the cache. */
  isPrivate(name: string): boolean;
  setPrivate(transaction: object, name: string): void;
}

/** @param isListening whether this process learns which options other processes add. */
function createCachedReads(database: Database, store: OptionStore, isListening: () => boolean): CachedReads {
  const cache = createOptionCache();
  const written = new WeakMap<object, Set<string>>();
  const loading = new Map<string, Promise<CachedOption>>();
  let names: Promise<void> | null = null;

  const isPrivate = (name: string): boolean => {
    const transaction = database.currentTransaction();
    return transaction !== null && written.get(transaction)?.has(name) === true;
  };

  async function load(names: readonly string[]): Promise<Map<string, CachedOption>> {
    const watch = cache.watch();
    try {
      const found = await store.read(names);
      const options = new Map<string, CachedOption>(names.map((name) => [name, found.get(name) ?? null]));
      for (const [name, option] of options) watch.keep(name, option);
      return options;
    } finally {
      watch.end();
    }
  }

  const loadOne = async (name: string): Promise<CachedOption> => (await load([name])).get(name) ?? null;

  /** Once, at the first miss: afterwards, options that do not exist take no query. Too many names are not kept. */
  async function loadNames(): Promise<void> {
    const watch = cache.watch();
    try {
      const found = await store.readNames(defaultLimit + 1);
      if (found.length <= defaultLimit) watch.keepNames(found);
    } finally {
      watch.end();
    }
  }

  async function loadMissing(name: string): Promise<CachedOption> {
    if (isListening())
      await (names ??= loadNames().catch((error: unknown) => {
        names = null;
        throw error;
      }));
    const known = cache.get(name);
    if (known !== undefined) return known;
    return keepAbsent(name) ? null : loadOne(name);
  }

  /** Caches the absence of an option where it is known. */
  function keepAbsent(name: string): boolean {
    if (!cache.lacks(name)) return false;
    const watch = cache.watch();
    watch.keep(name, null);
    watch.end();
    return true;
  }

  /** Concurrent readers of a name share a query. A query started before a change is not shared with later readers. */
  function loadShared(name: string): Promise<CachedOption> {
    const current = loading.get(name);
    if (current !== undefined) return current;
    const started = loadMissing(name).finally(() => {
      if (loading.get(name) === started) loading.delete(name);
    });
    loading.set(name, started);
    return started;
  }

  return {
    cache,
    peek: (name) => (isPrivate(name) ? undefined : cache.get(name)),
    isPrivate,
    setPrivate: (transaction, name) => void written.set(transaction, (written.get(transaction) ?? new Set()).add(name)),
    async read(name) {
      if (isPrivate(name)) return (await store.read([name])).get(name) ?? null;
      const known = cache.get(name);
      if (known !== undefined) return known;
      if (keepAbsent(name)) return null;
      // Inside a transaction, never wait for other readers: they may be waiting for its connection.
      return database.currentTransaction() === null ? loadShared(name) : loadOne(name);
    },
    async prime(names) {
      const unknown = names.filter((name) => !isPrivate(name) && cache.get(name) === undefined && !keepAbsent(name));
      if (unknown.length > 0) await load(unknown);
    },
    endSharing: (name) => void loading.delete(name),
    drop(name) {
      loading.delete(name);
      cache.drop(name);
    },
    clear() {
      loading.clear();
      names = null;
      cache.clear();
    },
  };
}

/** @param after the stored option if the statement changed a row; undefined if unknown. */
type Change = (name: string, after: CachedOption | undefined, statement: () => Promise<boolean>) => Promise<boolean>;

/** Writes, notifies other processes in the same transaction, and updates the cache. */
function createChange({
  database,
  reads,
  self,
}: {
  readonly database: Database;
  readonly reads: CachedReads;
  readonly self: string;
}): Change {
  return async (name, after, statement) => {
    const outer = database.currentTransaction();
    const watch = reads.cache.watch();
    try {
      const changed = await database.transaction(async () => {
        const done = await statement();
        if (done) await database.notify(channel, JSON.stringify({ from: self, name }));
        return done;
      });
      reads.endSharing(name);
      if (changed && outer === null && after !== undefined) watch.replace(name, after);
      else reads.drop(name);
      if (changed && outer !== null) {
        reads.setPrivate(outer, name);
        database.afterCommit(() => {
          reads.drop(name);
        });
      }
      return changed;
    } finally {
      watch.end();
    }
  };
}
