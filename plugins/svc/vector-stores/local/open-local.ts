import type { Knex } from '#plugin-api';
import { runWithinLimit } from '../../kit/time-limit.ts';
import { checkFilter } from '../vector-filter.ts';
import {
  VectorStoreError,
  type FoundVector,
  type OpenVectorStore,
  type VectorQuery,
  type VectorRecord,
  type VectorStoreConnection,
} from '../vector-store.ts';
import { administration, findCollection, type Collection } from './collections.ts';
import { maxResults, maxVectors, recordBytes, writeLimits } from './limits.ts';
import type { NearestInput } from './scan.reducer.ts';
import { tables } from './tables.ts';
import { deleteListed, readVectors, vectorKey, writeVectors } from './vectors.ts';

type LocalConnection = Pick<VectorStoreConnection, 'database' | 'clock' | 'timeout' | 'signal'>;

const scanModule = new URL('./scan.reducer.ts', import.meta.url);

/**
 * Vectors in the site's database. Searches read all vectors of a namespace in a thread, so that their results are exact. They see
 * what is committed.
 *
 * @param init `capacity`: how many vectors a collection may have
 */
export function openLocal(connection: LocalConnection, { capacity = maxVectors } = {}): OpenVectorStore {
  const { database } = connection;
  return {
    ...administration(connection),
    writeLimits: () => Promise.resolve(writeLimits),
    sizeOf: recordBytes,
    async write(target, records, { namespace = '' }) {
      await database.transaction(async (transaction) => {
        const collection = await findCollection(database, target, transaction);
        const distinct = new Map(records.map((record) => [record.id, record]));
        for (const record of distinct.values()) checkVector(collection, record.values);
        await writeVectors(transaction, { collectionId: collection.id, namespace }, [...distinct.values()]);
        await checkCount(transaction, collection, capacity);
      });
    },
    query: (target, query) => search(connection, target, query),
    async fetch(target, ids, { namespace = '' }) {
      const { id: collectionId } = await findCollection(database, target);
      const keys = ids.map((id) => vectorKey(namespace, id));
      const found = await readVectors(database, { collectionId }, { column: 'vector_key', values: keys });
      return keys.map((key) => found.get(key)).filter((vector) => vector !== undefined);
    },
    async deleteIds(target, ids, { namespace = '' }) {
      const { id: collectionId } = await findCollection(database, target);
      const values = ids.map((id) => vectorKey(namespace, id));
      await deleteListed(database, { collectionId }, { column: 'vector_key', values });
    },
    async deleteWhere(target, filter, { namespace = '' }) {
      checkFilter(filter);
      const { id: collectionId } = await findCollection(database, target);
      const values = await scan(connection, {
        ...{ reducer: 'findMatching', input: { filter } },
        ...{ columns: 'texts.id, texts.metadata', hasTexts: true, collectionId, namespace },
      });
      await deleteListed(database, { collectionId }, { column: 'id', values: [...values] });
    },
    async count(target, { namespace }) {
      const { id } = await findCollection(database, target);
      const where = { collection_id: id, ...(namespace !== undefined && { namespace }) };
      return countRows(database.knex(tables.vectors).where(where));
    },
  };
}

async function search(
  connection: LocalConnection,
  target: string,
  { vector, limit, filter, namespace = '' }: VectorQuery,
): Promise<FoundVector[]> {
  if (filter !== undefined) checkFilter(filter);
  if (limit > maxResults)
    throw rejected({ message: `a search returns ${String(maxResults)} results at most, not ${String(limit)}.` });
  const { database } = connection;
  const collection = await findCollection(database, target);
  checkVector(collection, vector);
  const { id: collectionId, metric } = collection;
  const wanted = { vector: Float32Array.from(vector), metric, limit, filter: filter ?? null };
  const numbers = await scan(connection, {
    ...{ reducer: 'findNearest', input: wanted satisfies NearestInput },
    columns: `vectors.id, vectors.vector${filter === undefined ? '' : ', texts.metadata'}`,
    ...{ hasTexts: filter !== undefined, collectionId, namespace },
  });
  const ids = [...numbers.filter((_, index) => index % 2 === 0)];
  const stored = await readVectors(database, { collectionId }, { column: 'id', values: ids });
  return ids.flatMap((id, index) => {
    const found = stored.get(id);
    // Deleted meanwhile.
    return found === undefined ? [] : [{ ...found, score: numbers[index * 2 + 1] ?? 0 }];
  });
}

interface Scan {
  readonly reducer: string;
  readonly input: unknown;
  readonly columns: string;
  readonly hasTexts: boolean;
  readonly collectionId: number;
  readonly namespace: string;
}

/** Reduces the vectors of a namespace within the time limit of the connection. */
function scan(
  connection: LocalConnection,
  { reducer, input, columns, hasTexts, collectionId, namespace }: Scan,
): Promise<Float64Array> {
  const from = `${tables.vectors} AS vectors${hasTexts ? ` JOIN ${tables.texts} AS texts ON texts.id = vectors.id` : ''}`;
  const sql = `SELECT ${columns} FROM ${from} WHERE vectors.collection_id = $1 AND vectors.namespace = $2`;
  // In the order of the file; SQLite would take the index of the keys.
  const select = { sqlite: `${sql.replaceAll(/\$\d/g, '?')} ORDER BY vectors.id`, postgresql: sql };
  return runWithinLimit(
    connection,
    (signal) =>
      connection.database.reduceRows({
        ...{ select, values: [collectionId, namespace], module: scanModule, reducer, input, signal },
      }),
    { ended: (init) => new VectorStoreError(init), failed: (thrown) => thrown },
  );
}

/** @throws VectorStoreError */
function checkVector({ name, dimension }: Collection, values: VectorRecord['values']): void {
  if (values.length !== dimension)
    throw rejected({
      message: `the collection ${name} has vectors of ${String(dimension)} dimensions, not ${String(values.length)}.`,
    });
  if (!values.every((value) => Number.isFinite(Math.fround(value))))
    throw rejected({ message: 'a vector has a number beyond those of 32-bit floats.' });
}

/** @throws VectorStoreError if the collection has become too large, which undoes the transaction */
async function checkCount(transaction: Knex.Transaction, { id, name }: Collection, capacity: number): Promise<void> {
  const some = transaction(tables.vectors)
    .where({ collection_id: id })
    .limit(capacity + 1)
    .select(transaction.raw('1'));
  if ((await countRows(transaction.from(some.as('some')))) > capacity)
    throw rejected({
      message: `the collection ${name} is full: it may have ${String(capacity)} vectors. Use another collection or store.`,
    });
}

async function countRows(query: Knex.QueryBuilder): Promise<number> {
  const row = (await query.count({ count: '*' }).first()) as { readonly count: number };
  return row.count;
}

function rejected({ message }: { readonly message: string }): VectorStoreError {
  return new VectorStoreError({ kind: 'rejected', message });
}
