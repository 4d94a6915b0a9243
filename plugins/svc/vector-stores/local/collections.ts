import type { DatabaseApi, Knex } from '#plugin-api';
import { VectorStoreError, type OpenVectorStore, type VectorMetric, type VectorTarget } from '../vector-store.ts';
import { maxDimension } from './limits.ts';
import { tables } from './tables.ts';
import { deleteVectors } from './vectors.ts';

export interface Collection {
  readonly id: number;
  readonly name: string;
  readonly dimension: number;
  readonly metric: VectorMetric;
}

const rows = (knex: Knex): Knex.QueryBuilder => knex(tables.collections).select('id', 'name', 'dimension', 'metric');

/**
 * A collection by its name.
 *
 * @param transaction with it, nothing removes the collection before the transaction ends
 * @throws VectorStoreError `not_found`
 */
export async function findCollection(
  { knex }: Pick<DatabaseApi, 'knex'>,
  name: string,
  transaction?: Knex.Transaction,
): Promise<Collection> {
  const query = rows(transaction ?? knex).where({ name });
  const found = (await (transaction === undefined ? query : query.forShare()).first()) as Collection | undefined;
  if (found !== undefined) return found;
  throw new VectorStoreError({ kind: 'not_found', message: `the collection ${name} does not exist.` });
}

/** The members that manage collections. */
export function administration({
  database,
  clock,
}: {
  readonly database: DatabaseApi;
  readonly clock: { now(): number };
}): Pick<OpenVectorStore, 'list' | 'describe' | 'create' | 'remove'> {
  return {
    async list() {
      return ((await rows(database.knex).orderBy('name')) as Collection[]).map(toTarget);
    },
    async describe(name) {
      const found = (await rows(database.knex).where({ name }).first()) as Collection | undefined;
      return found === undefined ? null : toTarget(found);
    },
    async create({ name, dimension, metric }) {
      if (dimension > maxDimension)
        throw new VectorStoreError({
          kind: 'rejected',
          message: `vectors may have ${String(maxDimension)} dimensions at most, not ${String(dimension)}.`,
        });
      const added = (await database
        .knex(tables.collections)
        .insert({ name, dimension, metric, created_at: clock.now() })
        .onConflict('name')
        .ignore()
        .returning('id')) as unknown[];
      if (added.length === 0)
        throw new VectorStoreError({ kind: 'conflict', message: `the collection ${name} exists already.` });
    },
    async remove(name) {
      const { id } = await findCollection(database, name);
      // Its vectors first, in short transactions: whatever ends this, another attempt goes on.
      await deleteVectors(database, (vectors) => vectors.where({ collection_id: id }));
      await database.transaction(async (transaction) => {
        // Waits for writes of vectors, which hold the row.
        await transaction(tables.collections).where({ id }).delete();
        await deleteVectors(database, (vectors) => vectors.where({ collection_id: id }));
      });
    },
  };
}

function toTarget({ name, dimension, metric }: Collection): VectorTarget {
  return { name, dimension, metric };
}
