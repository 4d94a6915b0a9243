import type { DatabaseApi, Knex } from '#plugin-api';
import type { CollectionKey, StoredCollection, StoredRecord, VectorStorage } from './vector-storage.ts';

interface CollectionRow {
  readonly id: string;
  readonly store: string;
  readonly scope: string;
  readonly name: string;
  readonly definition: string;
  /** A string on PostgreSQL. */
  readonly created_at: number | string;
}

interface RecordRow {
  readonly record_id: string;
  readonly position: string;
  readonly vector: Uint8Array;
  readonly content: string;
}

/** Rows of one insert, ids of one look-up: below the number of variables a statement may have. */
const batchSize = 200;
/** Records of one page of a scan: some megabytes at 1,536 dimensions. */
const pageSize = 500;

/** Remembers in the site's database. */
export function createDatabaseStorage({ knex, transaction }: DatabaseApi): VectorStorage {
  const collections = (): Knex.QueryBuilder<CollectionRow, CollectionRow[]> =>
    knex<CollectionRow>('sandbox_collections') as unknown as Knex.QueryBuilder<CollectionRow, CollectionRow[]>;
  const records = ({ collection, namespace }: CollectionKey): Knex.QueryBuilder<RecordRow, RecordRow[]> =>
    knex('sandbox_records').where({ collection_id: collection, namespace }) as unknown as Knex.QueryBuilder<
      RecordRow,
      RecordRow[]
    >;
  return {
    listCollections: async (store, scope) =>
      (await collections().where({ store, scope }).orderBy('created_at').orderBy('name')).map(collectionOf),
    findCollection: async (store, named) => {
      const [row] = await collections()
        .where({ store, ...named })
        .limit(1);
      return row && collectionOf(row);
    },
    addCollection: async (collection) =>
      (
        await knex('sandbox_collections')
          .insert(rowOf(collection))
          .onConflict(['store', 'scope', 'name'])
          .ignore()
          .returning('id')
      ).length > 0,
    changeCollection: (collection) =>
      transaction(async () => {
        const { store, scope, name, id } = collection;
        const [other] = await collections().where({ store, scope, name }).whereNot({ id }).limit(1);
        if (other) return false;
        await knex('sandbox_collections').where({ id }).update(rowOf(collection));
        return true;
      }),
    removeCollection: (id) =>
      transaction(async () => {
        await knex('sandbox_records').where({ collection_id: id }).delete();
        await knex('sandbox_collections').where({ id }).delete();
      }),
    put: (key, added) =>
      transaction(async () => {
        // One order for everyone, so that two writers of the same ids wait for each other instead of deadlocking.
        const rows = [...added]
          .sort((left, right) => (left.id < right.id ? -1 : 1))
          .map((record) => ({
            collection_id: key.collection,
            namespace: key.namespace,
            record_id: record.id,
            position: record.order,
            vector: bytesOf(record.vector),
            content: JSON.stringify(record.content),
          }));
        for (const batch of batches(rows)) {
          await knex('sandbox_records')
            .insert(batch)
            .onConflict(['collection_id', 'namespace', 'record_id'])
            .merge(['vector', 'content']);
        }
      }),
    get: async (key, ids) => {
      const found: StoredRecord[] = [];
      for (const batch of batches(ids)) found.push(...(await records(key).whereIn('record_id', batch)).map(recordOf));
      return found;
    },
    remove: (key, ids) =>
      transaction(async () => {
        if (ids === null) await records(key).delete();
        else for (const batch of batches(ids)) await records(key).whereIn('record_id', batch).delete();
      }),
    counts: async (collection) => {
      const rows = (await knex('sandbox_records')
        .where({ collection_id: collection })
        .groupBy('namespace')
        .select('namespace')
        .count({ count: '*' })) as { namespace: string; count: number | string }[];
      return new Map(rows.map(({ namespace, count }) => [namespace, Number(count)]));
    },
    scan: (key, after = '') => pages(records, key, after),
    together: (work) => transaction(work),
  };
}

async function* pages(
  records: (key: CollectionKey) => Knex.QueryBuilder<RecordRow, RecordRow[]>,
  key: CollectionKey,
  after: string,
): AsyncIterable<readonly StoredRecord[]> {
  let from = after;
  for (;;) {
    const page = await records(key).where('position', '>', from).orderBy('position').limit(pageSize);
    yield page.map(recordOf);
    const last = page.at(-1);
    if (page.length < pageSize || !last) return;
    from = last.position;
  }
}

function collectionOf({ definition, created_at: createdAt, ...row }: CollectionRow): StoredCollection {
  return { ...row, definition: JSON.parse(definition) as StoredCollection['definition'], createdAt: Number(createdAt) };
}

function rowOf({ definition, createdAt, ...collection }: StoredCollection): CollectionRow {
  return { ...collection, definition: JSON.stringify(definition), created_at: createdAt };
}

/** The content is read when it is asked for: a search looks at that of few records. */
function recordOf(row: RecordRow): StoredRecord {
  let content: StoredRecord['content'] | undefined;
  return {
    id: row.record_id,
    order: row.position,
    vector: floatsOf(row.vector),
    get content() {
      content ??= JSON.parse(row.content) as StoredRecord['content'];
      return content;
    },
  };
}

function bytesOf(vector: Float32Array): Buffer {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
}

/** A copy, as a driver's bytes need not begin where a number may. */
function floatsOf(bytes: Uint8Array): Float32Array {
  return new Float32Array(new Uint8Array(bytes).buffer);
}

function batches<T>(list: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(list.length / batchSize) }, (_, index) =>
    list.slice(index * batchSize, (index + 1) * batchSize),
  );
}
