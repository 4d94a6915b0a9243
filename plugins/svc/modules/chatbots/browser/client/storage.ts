/** What of the browser's Storage is needed. */
export interface StorageArea {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

export interface Store {
  get(name: string): string;
  /** Empty: takes it away. */
  set(name: string, value: string): void;
}

/**
 * Keeps texts under names of its own in an area of the browser, or in memory where the area is blocked, full or gone:
 * the page goes on, only a reload forgets.
 *
 * @param open Asks for the area; browsers that block storage throw here already.
 */
export function createStore(open: () => StorageArea, prefix: string): Store {
  const memory = new Map<string, string>();
  return {
    get(name) {
      const held = memory.get(name);
      if (held !== undefined) return held;
      try {
        return open().getItem(prefix + name) ?? '';
      } catch {
        return '';
      }
    },
    set(name, value) {
      try {
        if (value === '') open().removeItem(prefix + name);
        else open().setItem(prefix + name, value);
        memory.delete(name);
      } catch {
        memory.set(name, value);
      }
    },
  };
}
