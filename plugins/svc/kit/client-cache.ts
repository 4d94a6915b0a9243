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
  const byFetch = new WeakMap<typeof globalThis.fetch, Map<string, Promise<Client>>>();
  return {
    get(fetch, parts, build) {
      const clients = byFetch.get(fetch) ?? new Map<string, Promise<Client>>();
      byFetch.set(fetch, clients);
      const key = JSON.stringify(parts);
      const client = clients.get(key) ?? build();
      clients.delete(key);
      clients.set(key, client);
      client.catch(() => clients.delete(key));
      const oldest = clients.keys().next().value;
      if (clients.size > limit && oldest !== undefined) clients.delete(oldest);
      return client;
    },
  };
}
