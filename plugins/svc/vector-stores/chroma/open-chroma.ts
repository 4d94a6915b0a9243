import type { Collection } from 'chromadb';
import { unreadableResponse } from '../store-errors.ts';
import { conditions, toBounds, type VectorFilter } from '../vector-filter.ts';
import { nullIfMissing, rememberTargets, VectorStoreError } from '../vector-store.ts';
import type { OpenVectorStore, VectorStoreConnection } from '../vector-store.ts';
import { asCollection, askChroma, chromaTarget, dimensionKey, readChroma, toScore, toSpace } from './chroma-client.ts';
import type { ChromaCollection } from './chroma-client.ts';
import { columnBytes, fromColumns, replacing, toColumns } from './chroma-records.ts';

/** With its defaults, Chroma's HNSW index misses vectors far from any cluster. These values find them at a low cost. */
const thorough = { max_neighbors: 64, ef_construction: 400, ef_search: 400 } as const;

/** Servers accept 40 MB by default; a quarter keeps requests short. The server reports the maximum number of records. */
const bytes = 10_000_000;
const pageSize = 1_000;

export function openChroma(connection: VectorStoreConnection): OpenVectorStore {
  const { find: findCollection } = rememberTargets((name) =>
    readChroma(connection, `/collections/${encodeURIComponent(name)}`).then(asCollection),
  );
  let base64 = false;

  /** Calls the API of a collection by its id. */
  async function ask<T>(name: string, call: (collection: Collection) => Promise<T>): Promise<T> {
    const { id } = await findCollection(name);
    return askChroma(connection, (client) => call(client.collection(id)));
  }

  return {
    ...administration(connection, findCollection),
    async writeLimits() {
      const [records, supported] = await askChroma(connection, (client) =>
        Promise.all([client.getMaxBatchSize(), client.supportsBase64Encoding()]),
      );
      base64 = supported;
      return { records: records > 0 ? records : pageSize, bytes };
    },
    sizeOf: (record) => columnBytes(record, base64),
    async write(target, records) {
      await ask(target, async (collection) => {
        const columns = toColumns(records);
        const { ids, metadatas } = await collection.get({ ids: columns.ids, include: ['metadatas'] });
        await collection.upsert(replacing(columns, new Map(ids.map((id, index) => [id, metadatas[index] ?? {}]))));
      });
    },
    async query(target, { vector, limit, filter }) {
      const { metric } = chromaTarget(await findCollection(target));
      const where = filter === undefined ? {} : { where: chromaWhere(filter) };
      const found = await ask(target, (collection) =>
        collection.query({
          queryEmbeddings: [[...vector]],
          nResults: limit,
          include: ['metadatas', 'documents', 'distances'],
          ...(where as object),
        }),
      );
      const distances = found.distances[0] ?? [];
      return (found.ids[0] ?? []).map((id, index) => ({
        ...fromColumns(id, found.metadatas[0]?.[index], found.documents[0]?.[index]),
        score: toScore(distances[index] ?? Number.POSITIVE_INFINITY, metric),
      }));
    },
    async fetch(target, ids) {
      if (ids.length === 0) return [];
      const found = await ask(target, (collection) =>
        collection.get({ ids: [...ids], include: ['metadatas', 'documents'] }),
      );
      const byId = new Map(
        found.ids.map((id, index) => [id, fromColumns(id, found.metadatas[index], found.documents[index])]),
      );
      return ids.map((id) => byId.get(id)).filter((record) => record !== undefined);
    },
    async deleteIds(target, ids) {
      if (ids.length > 0) await ask(target, (collection) => collection.delete({ ids: [...ids] }));
    },
    async deleteWhere(target, filter) {
      const where = chromaWhere(filter);
      await ask(target, (collection) => collection.delete({ where } as object));
    },
    count: (target) => ask(target, (collection) => collection.count()),
  };
}

function administration(
  connection: VectorStoreConnection,
  findCollection: (name: string) => Promise<ChromaCollection>,
): Pick<OpenVectorStore, 'list' | 'describe' | 'create' | 'remove'> {
  return {
    async list() {
      const collections: ChromaCollection[] = [];
      for (let read = pageSize; read === pageSize;) {
        const page = await readChroma(
          connection,
          `/collections?limit=${String(pageSize)}&offset=${String(collections.length)}`,
        );
        if (!Array.isArray(page)) throw unreadableResponse('no list of collections');
        collections.push(...page.map(asCollection));
        read = page.length;
      }
      return collections.map(chromaTarget);
    },
    describe: (name) => findCollection(name).then(chromaTarget, nullIfMissing),
    async create({ name, dimension, metric }) {
      await askChroma(connection, (client) =>
        client.createCollection({
          name,
          embeddingFunction: null,
          configuration: { hnsw: { space: toSpace(metric), ...thorough } },
          metadata: { [dimensionKey]: dimension },
        }),
      );
    },
    remove: (name) => askChroma(connection, (client) => client.deleteCollection({ name })),
  };
}

/** Chroma's filter format: one operator of one field, or a list in `$and` or `$or`. */
type ChromaWhere = Readonly<Record<string, unknown>>;

function chromaWhere(filter: VectorFilter): ChromaWhere {
  if ('all' in filter) return joined('$and', conditions(filter.all).map(chromaWhere));
  if ('any' in filter) return joined('$or', conditions(filter.any).map(chromaWhere));
  const { field } = filter;
  if ('equals' in filter) return { [field]: { $eq: filter.equals } };
  if ('unequal' in filter) return { [field]: { $ne: filter.unequal } };
  // Chroma requires lists of one type that are not empty.
  if ('in' in filter)
    return joined(
      '$or',
      notEmpty(filter.in).map((value) => ({ [field]: { $eq: value } })),
    );
  if ('notIn' in filter)
    return joined(
      '$and',
      notEmpty(filter.notIn).map((value) => ({ [field]: { $ne: value } })),
    );
  if ('exists' in filter)
    throw new VectorStoreError({
      kind: 'unsupported',
      message: `it cannot filter by the existence of the field ${field}.`,
    });
  return joined(
    '$and',
    Object.entries(toBounds(filter, ['$gte', '$gt', '$lte', '$lt'])).map(([operator, bound]) => ({
      [field]: { [operator]: bound },
    })),
  );
}

/** The server refuses a list of one. */
function joined(operator: '$and' | '$or', list: readonly ChromaWhere[]): ChromaWhere {
  const [first] = list;
  return list.length === 1 && first !== undefined ? first : { [operator]: list };
}

function notEmpty<Value>(values: readonly Value[]): readonly Value[] {
  if (values.length > 0) return values;
  throw new VectorStoreError({ kind: 'unsupported', message: 'a filter by list needs at least one value.' });
}
