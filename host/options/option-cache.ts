/** A stored option, or null for a name that is known to have none. */
export type CachedOption = { readonly text: string; readonly autoload: boolean } | null;

/** Follows the changes made while a value travels between database and cache. */
export interface Watch {
  /** Keeps what was read, unless the option changed since the watch began: then it may be old. */
  keep(name: string, option: CachedOption): void;
  /** Keeps what was written; when another write fell in between, nobody knows which came last, and the next reader asks anew. */
  replace(name: string, option: CachedOption): void;
  end(): void;
}

export interface OptionCache {
  /** undefined: not known. */
  get(name: string): CachedOption | undefined;
  drop(name: string): void;
  clear(): void;
  watch(): Watch;
}

/** Names that are not autoloaded, and absent ones, come and go with the data: only so many are remembered. */
const defaultLimit = 10_000;

export function createOptionCache(limit = defaultLimit): OptionCache {
  const autoloaded = new Map<string, CachedOption>();
  const others = new Map<string, CachedOption>();
  const watches = new Set<{ readonly changed: Set<string>; all: boolean }>();

  function forget(name: string): void {
    autoloaded.delete(name);
    others.delete(name);
  }

  function drop(name: string): void {
    forget(name);
    for (const { changed } of watches) changed.add(name);
  }

  function put(name: string, option: CachedOption): void {
    forget(name);
    (option?.autoload === true ? autoloaded : others).set(name, option);
    if (others.size <= limit) return;
    const [oldest] = others.keys();
    if (oldest !== undefined) others.delete(oldest);
  }

  return {
    get: (name) => autoloaded.get(name) ?? others.get(name),
    drop,
    clear() {
      autoloaded.clear();
      others.clear();
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
        end: () => void watches.delete(state),
      };
    },
  };
}
