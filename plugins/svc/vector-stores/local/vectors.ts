import { createHash } from 'node:crypto';
import type { DatabaseApi, Knex } from '#plugin-api';
import { slices } from '../batches.ts';
import type { StoredVector, VectorMetadata, VectorRecord } from '../vector-store.ts';
import { tables } from './tables.ts';
import { toBytes } from './vector-bytes.ts';

/** Rows of one statement: few, because SQLite's statements hold up the process. */
const rowsPerStatement = 50;
/** Vectors that one transaction deletes. */
const rowsPerDelete = 200;

/** Where a vector is. */
export interface VectorScope {
  readonly collectionId: number;
  /** '' is the default one. */
  readonly namespace: string;
}

/** A vector within its collection. */
export function vectorKey(namespace: string, id: string): string {
  return createHash('sha256')
    .update(JSON.stringify([namespace, id]))
    .digest('base64url');
}

/** Writes vectors with their texts in a transaction. Ids are distinct. */
export async function writeVectors(
  transaction: Knex.Transaction,
  { collectionId, namespace }: VectorScope,
  records: readonly VectorRecord[],
): Promise<void> {
  // In the order of their keys: two writes of the same vectors wait for each other, not both.
  const keyed = records
    .map((record) => ({ record, key: vectorKey(namespace, record.id) }))
    .sort((left, right) => (left.key < right.key ? -1 : 1));
  for (const some of slices(keyed, rowsPerStatement)) {
    const written = (await transaction(tables.vectors)
      .insert(
        some.map(({ record, key }) => ({
          ...{ collection_id: collectionId, vector_key: key, namespace },
          ...{ vector_id: record.id, vector: toBytes(record.values) },
        })),
      )
      .onConflict(['collection_id', 'vector_key'])
      .merge(['vector'])
      .returning(['id', 'vector_key'])) as { readonly id: number; readonly vector_key: string }[];
    const ids = new Map(written.map(({ id, vector_key: key }) => [key, id]));
    const texts = some.map(({ record: { content, metadata }, key }) => ({
      ...{ id: ids.get(key), content, metadata: JSON.stringify(metadata) },
    }));
    await transaction(tables.texts).insert(texts).onConflict('id').merge(['content', 'metadata']);
  }
}

/** Deletes the chosen vectors with their texts, in as many transactions as it takes. */
export async function deleteVectors(
  database: Pick<DatabaseApi, 'transaction'>,
  choose: (vectors: Knex.QueryBuilder) => Knex.QueryBuilder,
): Promise<void> {
  for (let deleted = rowsPerDelete; deleted === rowsPerDelete;)
    deleted = await database.transaction(async (transaction) => {
      const ids = (await choose(transaction(tables.vectors)).limit(rowsPerDelete).pluck('id')) as number[];
      await transaction(tables.texts).whereIn('id', ids).delete();
      await transaction(tables.vectors).whereIn('id', ids).delete();
      return ids.length;
    });
}

/** Deletes vectors by the numbers of their rows, or by a column. */
export async function deleteListed(
  database: Pick<DatabaseApi, 'transaction'>,
  { collectionId }: Pick<VectorScope, 'collectionId'>,
  { column, values }: { readonly column: 'id' | 'vector_key'; readonly values: readonly (number | string)[] },
): Promise<void> {
  for (const some of slices(values, rowsPerDelete))
    await deleteVectors(database, (vectors) =>
      vectors.where({ collection_id: collectionId }).whereIn(column, [...some]),
    );
}

interface VectorRow {
  readonly id: number;
  readonly vector_id: string;
  readonly vector_key: string;
  readonly content: string;
  readonly metadata: string;
}

/** The stored vectors of a collection with their texts, by a column. */
export async function readVectors(
  { knex }: Pick<DatabaseApi, 'knex'>,
  { collectionId }: Pick<VectorScope, 'collectionId'>,
  { column, values }: { readonly column: 'id' | 'vector_key'; readonly values: readonly (number | string)[] },
): Promise<ReadonlyMap<number | string, StoredVector>> {
  const found = new Map<number | string, StoredVector>();
  for (const some of slices(values, rowsPerDelete)) {
    const read = (await knex(tables.vectors)
      .join(tables.texts, `${tables.texts}.id`, `${tables.vectors}.id`)
      .where({ collection_id: collectionId })
      .whereIn(`${tables.vectors}.${column}`, [...some])
      .select(`${tables.vectors}.id`, 'vector_id', 'vector_key', 'content', 'metadata')) as VectorRow[];
    for (const row of read)
      found.set(row[column], {
        id: row.vector_id,
        content: row.content,
        metadata: JSON.parse(row.metadata) as VectorMetadata,
      });
  }
  return found;
}
