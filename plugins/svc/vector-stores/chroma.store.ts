import type { Collection } from 'chromadb';
import { askChroma, asCollection, readChroma, type ChromaCollection } from './chroma/chroma-client.ts';
import { chromaWhere } from './chroma/chroma-filter.ts';
import { columnBytes, fromColumns, replacing, toColumns } from './chroma/chroma-records.ts';
import { chromaTarget, dimensionKey, toScore, toSpace } from './chroma/chroma-client.ts';
import { unreadableResponse } from './store-errors.ts';
import { apiKeyField, urlField } from '../kit/connection-fields.ts';
import { nullIfMissing, rememberTargets, timeoutField } from './vector-store.ts';
import type { OpenVectorStore, VectorStore, VectorStoreConnection } from './vector-store.ts';

/** With its defaults, Chroma's HNSW index misses vectors far from any cluster. These values find them at a low cost. */
const thorough = { max_neighbors: 64, ef_construction: 400, ef_search: 400 } as const;

/** Servers accept 40 MB by default; a quarter keeps requests short. The server reports the maximum number of records. */
const bytes = 10_000_000;
const pageSize = 1_000;

export const store: VectorStore = {
  id: 'chroma',
  label: 'Chroma',
  targetKind: 'collection',
  required: ['url'],
  metrics: ['cosine', 'euclidean', 'dotproduct'],
  settings: {
    type: 'object',
    properties: {
      url: urlField({
        description: 'For example http://localhost:8000, or https://api.trychroma.com for Chroma Cloud.',
      }),
      api_key: apiKeyField(
        'Of Chroma Cloud, or the token of your own server; leave it empty for a server without one.',
      ),
      tenant: {
        type: 'string',
        title: 'Tenant',
        description: 'Shown with the API key in Chroma Cloud.',
        default: 'default_tenant',
      },
      database: { type: 'string', title: 'Database', default: 'default_database' },
      timeout: timeoutField,
    },
  },
  targetName: {
    pattern: /^[a-zA-Z0-9][a-zA-Z0-9._-]{1,510}[a-zA-Z0-9]$/,
    rule: '3 to 512 letters, digits, dots, dashes and underscores, with a letter or digit at both ends',
  },
  refuse({ metadata }) {
    const reserved = Object.keys(metadata).find(
      (name) => name === '' || name.startsWith('#') || name.startsWith('chroma:'),
    );
    return reserved === undefined
      ? null
      : `Chroma keeps the metadata key "${reserved}" for itself. Give it another name.`;
  },
  open: openChroma,
};

function openChroma(connection: VectorStoreConnection): OpenVectorStore {
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
