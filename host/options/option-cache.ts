/** A stored option, or null for a name known not to exist. */
export type CachedOption = { readonly text: string; readonly autoload: boolean } | null;

/** Tracks changes made while a value is read from or written to the database. */
export interface Watch {
  /** Caches a value that was read, unless the option changed since the watch started. */
  keep(name: string, option: CachedOption): void;
  /** Caches a value that was written. If another write happened meanwhile, their order is unknown: the entry is dropped. */
  replace(name: string, option: CachedOption): void;
  /** Takes the names of all stored options: the cache lacks every other name, unless it changed since the watch started. */
  keepNames(names: Iterable<string>): void;
  end(): void;
}

export interface OptionCache {
  /** undefined: not cached. */
  get(name: string): CachedOption | undefined;
  /** Whether an option that is not cached is known not to exist. */
  lacks(name: string): boolean;
  drop(name: string): void;
  clear(): void;
  watch(): Watch;
}

/** Maximum number of cached entries that are absent or not autoloaded; their names can contain data. */
export const defaultLimit = 10_000;

export function createOptionCache(limit = defaultLimit): OptionCache {
  const autoloaded = new Map<string, CachedOption>();
  const others = new Map<string, CachedOption>();
  const watches = new Set<{ readonly changed: Set<string>; all: boolean }>();
  /** Names that may be stored without being cached; null while it is not known which these are. */
  let uncached: Set<string> | null = null;

  function forget(name: string): void {
    autoloaded.delete(name);
    others.delete(name);
  }

  function mayBeStored(name: string): void {
    uncached?.add(name);
    if (uncached !== null && uncached.size > limit) uncached = null;
  }

  function drop(name: string): void {
    forget(name);
    mayBeStored(name);
    for (const { changed } of watches) changed.add(name);
  }

  function put(name: string, option: CachedOption): void {
    forget(name);
    (option?.autoload === true ? autoloaded : others).set(name, option);
    if (others.size <= limit) return;
    const [oldest] = others.keys();
    if (oldest === undefined) return;
    if (others.get(oldest) !== null) mayBeStored(oldest);
    others.delete(oldest);
  }

  return {
    get: (name) => autoloaded.get(name) ?? others.get(name),
    lacks: (name) => uncached?.has(name) === false && !autoloaded.has(name) && !others.has(name),
    drop,
    clear() {
      autoloaded.clear();
      others.clear();
      uncached = null;
      for (const watch of watches) watch.all = true;
    },
    watch() {
      const state = { changed: new Set<string>(), all: false };
      watches.add(state);
      return {
        keep(name, option) {
          if (!state.all && !state.changed.has(name)) put(name, option);
        },
        replace(name, option) {
          const isLast = !state.all && !state.changed.has(name);
          drop(name);
          if (isLast) put(name, option);
        },
        keepNames(names) {
          if (!state.all) uncached = new Set([...names, ...state.changed]);
        },
        end: () => void watches.delete(state),
      };
    },
  };
}
