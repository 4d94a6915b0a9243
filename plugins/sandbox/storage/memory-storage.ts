import type { CollectionKey, StoredCollection, StoredRecord, VectorStorage } from './vector-storage.ts';

type Namespaces = Map<string, Map<string, StoredRecord>>;

/** Remembers for the life of the process: for a server without a host's database. */
export function createMemoryStorage(): VectorStorage {
  const collections = new Map<string, StoredCollection>();
  const records = new Map<string, Namespaces>();
  const at = ({ collection, namespace }: CollectionKey): Map<string, StoredRecord> =>
    records.get(collection)?.get(namespace) ?? new Map<string, StoredRecord>();
  const taken = ({ id, store, scope, name }: StoredCollection): boolean =>
    [...collections.values()].some(
      (other) => other.id !== id && other.store === store && other.scope === scope && other.name === name,
    );
  const keep = (collection: StoredCollection): boolean => {
    if (taken(collection)) return false;
    collections.set(collection.id, collection);
    return true;
  };
  return {
    listCollections: (store, scope) =>
      Promise.resolve(
        [...collections.values()].filter((collection) => collection.store === store && collection.scope === scope),
      ),
    findCollection: (store, named) =>
      Promise.resolve(
        [...collections.values()].find(
          (collection) =>
            collection.store === store &&
            ('id' in named
              ? collection.id === named.id
              : collection.scope === named.scope && collection.name === named.name),
        ),
      ),
    addCollection: (collection) => Promise.resolve(keep(collection)),
    changeCollection: (collection) => Promise.resolve(keep(collection)),
    removeCollection: (id) => {
      collections.delete(id);
      records.delete(id);
      return Promise.resolve();
    },
    put: (key, added) => {
      const namespaces: Namespaces = records.get(key.collection) ?? new Map<string, Map<string, StoredRecord>>();
      const held = namespaces.get(key.namespace) ?? new Map<string, StoredRecord>();
      for (const record of added) held.set(record.id, { ...record, order: held.get(record.id)?.order ?? record.order });
      records.set(key.collection, namespaces.set(key.namespace, held));
      return Promise.resolve();
    },
    get: (key, ids) => Promise.resolve(ids.flatMap((id) => at(key).get(id) ?? [])),
    remove: (key, ids) => {
      if (ids === null) records.get(key.collection)?.delete(key.namespace);
      else for (const id of ids) at(key).delete(id);
      return Promise.resolve();
    },
    counts: (collection) =>
      Promise.resolve(
        new Map(
          [...(records.get(collection) ?? new Map<string, Map<string, StoredRecord>>())]
            .map(([namespace, held]): [string, number] => [namespace, held.size])
            .filter(([, count]) => count > 0),
        ),
      ),
    scan: (key, after = '') =>
      pageOf(
        [...at(key).values()]
          .filter(({ order }) => order > after)
          .sort((left, right) => (left.order < right.order ? -1 : 1)),
      ),
    together: (work) => work(),
  };
}

async function* pageOf(page: readonly StoredRecord[]): AsyncIterable<readonly StoredRecord[]> {
  yield await Promise.resolve(page);
}
