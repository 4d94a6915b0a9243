/** A thing with a name that holds records: an index, a collection; tenants and databases of Chroma too. */
export interface StoredCollection {
  /** UUID. */
  readonly id: string;
  /** Whose it is, for example `pinecone`. */
  readonly store: string;
  /** What names are unique in, with the store: a tenant and a database at Chroma, else the empty string. */
  readonly scope: string;
  readonly name: string;
  /** What the store keeps about it: dimension, metric, settings. */
  readonly definition: Readonly<Record<string, unknown>>;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

export interface StoredRecord {
  readonly id: string;
  /** Unique within the namespace; the order in which records are listed. Kept when a record is written again. */
  readonly order: string;
  readonly vector: Float32Array;
  /** What the store keeps beside the vector. */
  readonly content: Readonly<Record<string, unknown>>;
}

/** One namespace of one collection; the empty string where a store has none. */
export interface CollectionKey {
  readonly collection: string;
  readonly namespace: string;
}

/** What the fakes of vector stores remember. All of it is seen by every node on the same database. */
export interface VectorStorage {
  /** Oldest first. */
  listCollections(store: string, scope: string): Promise<readonly StoredCollection[]>;
  findCollection(
    store: string,
    named: { readonly scope: string; readonly name: string } | { readonly id: string },
  ): Promise<StoredCollection | undefined>;
  /** False, and nothing done, when the name is taken. */
  addCollection(collection: StoredCollection): Promise<boolean>;
  /** False, and nothing done, when the new name is taken. */
  changeCollection(collection: StoredCollection): Promise<boolean>;
  /** Its records go with it. */
  removeCollection(id: string): Promise<void>;
  /** Inserts, or replaces vector and content of the same id. All or nothing. */
  put(key: CollectionKey, records: readonly StoredRecord[]): Promise<void>;
  /** In no particular order; ids that are not there are left out. */
  get(key: CollectionKey, ids: readonly string[]): Promise<readonly StoredRecord[]>;
  /** @param ids null: all. */
  remove(key: CollectionKey, ids: readonly string[] | null): Promise<void>;
  /** Records per namespace; empty namespaces are not there. */
  counts(collection: string): Promise<ReadonlyMap<string, number>>;
  /** All records in pages, in their order. */
  scan(key: CollectionKey, after?: string): AsyncIterable<readonly StoredRecord[]>;
  /** Runs reads and writes that belong together; what fails leaves nothing written. */
  together<T>(work: () => Promise<T>): Promise<T>;
}
