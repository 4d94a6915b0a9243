/** The part of the browser's Storage that is used. */
export interface StorageArea {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

export interface Store {
  get(name: string): string;
  /** An empty value removes the entry. */
  set(name: string, value: string): void;
}

/**
 * Stores texts in a storage area of the browser, or in memory until the next reload if the area is blocked or full.
 *
 * @param open returns the area; browsers that block storage throw here
 */
export function createStore(open: () => StorageArea, prefix: string): Store {
  const memory = new Map<string, string>();
  return {
    get(name) {
      const value = memory.get(name);
      if (value !== undefined) return value;
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
