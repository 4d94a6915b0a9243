/** Caches clients per connection, so that a call does not build one. Each process has its own cache. */
export interface ClientCache<Client> {
  /**
   * @param fetch clients of different fetch functions are separate
   * @param parts the settings of the client; equal parts return the same client
   */
  get(fetch: typeof globalThis.fetch, parts: readonly unknown[], build: () => Promise<Client>): Promise<Client>;
}

/** @param limit clients per fetch function, 1 or more; the least recently used client is removed first */
export function createClientCache<Client>(limit = 32): ClientCache<Client> {
  const byFetch = new WeakMap<typeof globalThis.fetch, ReturnType<typeof createRecent<Client>>>();
  return {
    get(fetch, parts, build) {
      const known = byFetch.get(fetch);
      if (known !== undefined) return known(JSON.stringify(parts), build);
      const recent = createRecent<Client>(limit);
      byFetch.set(fetch, recent);
      return recent(JSON.stringify(parts), build);
    },
  };
}

/** The clients that were used last, in that order. One that cannot be built is built again by the next call. */
function createRecent<Client>(limit: number): (key: string, build: () => Promise<Client>) => Promise<Client> {
  const clients = new Map<string, Promise<Client>>();
  let newest: string | undefined;
  return (key, build) => {
    const known = clients.get(key);
    if (known !== undefined && key === newest) return known;
    clients.delete(key);
    const client = known ?? build();
    if (known === undefined) client.catch(() => clients.delete(key));
    clients.set(key, client);
    newest = key;
    const oldest = clients.keys().next().value;
    if (clients.size > limit && oldest !== undefined) clients.delete(oldest);
    return client;
  };
}

/**
 * Caches results by text. Each process has its own cache, of at most 1,000 results.
 *
 * @param compute not undefined for any text; what it throws is not cached
 */
export function memoize<Result>(compute: (text: string) => Result): (text: string) => Result {
  const cache = new Map<string, Result>();
  return (text) => {
    const found = cache.get(text);
    if (found !== undefined) return found;
    if (cache.size >= 1000) cache.clear();
    const result = compute(text);
    cache.set(text, result);
    return result;
  };
}
