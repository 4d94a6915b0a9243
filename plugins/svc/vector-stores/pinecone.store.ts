import type { Index, IndexModel } from '@pinecone-database/pinecone';
import { jsonSize } from './batches.ts';
import { askPinecone, indexAt, pineconeTarget } from './pinecone/pinecone-client.ts';
import { pineconeFilter } from './pinecone/pinecone-records.ts';
import { fromPineconeRecord, refusePineconeRecord, toPineconeRecord } from './pinecone/pinecone-records.ts';
import { apiKeyField, urlField } from '../kit/connection-fields.ts';
import {
  nullIfMissing,
  rememberTargets,
  timeoutField,
  VectorStoreError,
  type NamespaceChoice,
  type OpenVectorStore,
  type StoredVector,
  type VectorStore,
  type VectorStoreConnection,
} from './vector-store.ts';

/** Limits of an upsert: 1,000 records and 2 MB. */
const limits = { records: 1_000, bytes: 2_000_000 };
/** Ids of a fetch are in its URL, with up to 512 characters each. */
const idsPerFetch = 50;
/** Maximum ids of a delete. */
const idsPerDelete = 1_000;
/** A new index is ready within seconds. */
const readyTries = 30;

export const store: VectorStore = {
  id: 'pinecone',
  label: 'Pinecone',
  targetKind: 'index',
  required: ['api_key', 'url'],
  metrics: ['cosine', 'euclidean', 'dotproduct'],
  settings: {
    type: 'object',
    properties: {
      api_key: apiKeyField('From app.pinecone.io, under API keys.'),
      url: urlField({
        description: 'URL of the control plane. Change it only for a compatible server.',
        address: 'https://api.pinecone.io',
      }),
      cloud: {
        type: 'string',
        title: 'Cloud',
        description: 'Cloud for new indexes.',
        enum: ['aws', 'gcp', 'azure'],
        ui: { labels: { aws: 'AWS', gcp: 'Google Cloud' } },
        default: 'aws',
      },
      region: {
        type: 'string',
        title: 'Region',
        description: 'Region of the cloud, for example us-east-1.',
        default: 'us-east-1',
      },
      timeout: timeoutField,
    },
  },
  targetName: {
    pattern: /^[a-z0-9]([a-z0-9-]{0,43}[a-z0-9])?$/,
    rule: '1 to 45 lower-case letters, digits and dashes, with no dash at either end',
  },
  refuse: refusePineconeRecord,
  open: openPinecone,
};

function openPinecone(connection: VectorStoreConnection): OpenVectorStore {
  /** The control plane's description of each index with its host. */
  const known = rememberTargets((name) => askPinecone(connection, (client) => client.describeIndex(name)));
  const findIndex = known.find;

  async function ask<T>(name: string, { namespace }: NamespaceChoice, call: (index: Index) => Promise<T>): Promise<T> {
    const model = await findIndex(name);
    return askPinecone(connection, (client) => call(indexAt(client, model, namespace)));
  }

  return {
    ...administration(connection, findIndex),
    writeLimits: () => Promise.resolve(limits),
    sizeOf: (record) => jsonSize(toPineconeRecord(record)),
    write: (target, records, options) =>
      ask(target, options, (index) => index.upsert({ records: records.map(toPineconeRecord) })),
    async query(target, { vector, limit, filter, namespace }) {
      const { metric } = pineconeTarget(await findIndex(target));
      const { matches } = await ask(target, namespace === undefined ? {} : { namespace }, (index) =>
        index.query({
          vector: [...vector],
          topK: limit,
          includeMetadata: true,
          ...(filter !== undefined && { filter: pineconeFilter(filter) }),
        }),
      );
      return matches.map((match) => ({
        ...fromPineconeRecord(match),
        score: (metric === 'euclidean' ? -1 : 1) * (match.score ?? 0),
      }));
    },
    async fetch(target, ids, options) {
      const found = new Map<string, StoredVector>();
      for (const some of slices(ids, idsPerFetch)) {
        const { records } = await ask(target, options, (index) => index.fetch({ ids: [...some] }));
        for (const record of Object.values(records)) found.set(record.id, fromPineconeRecord(record));
      }
      return ids.map((id) => found.get(id)).filter((record) => record !== undefined);
    },
    async deleteIds(target, ids, options) {
      for (const some of slices(ids, idsPerDelete))
        await ignoreEmptyNamespace(
          target,
          ask(target, options, (index) => index.deleteMany({ ids: [...some] })),
        );
    },
    deleteWhere: (target, filter, options) =>
      ignoreEmptyNamespace(
        target,
        ask(target, options, (index) => index.deleteMany({ filter: pineconeFilter(filter) })),
      ),
    async count(target, { namespace }) {
      const stats = await ask(target, {}, (index) => index.describeIndexStats());
      if (namespace === undefined) return stats.totalRecordCount ?? 0;
      const { namespaces = {} } = stats;
      return (namespaces[namespace] ?? (namespace === '' ? namespaces['__default__'] : undefined))?.recordCount ?? 0;
    },
  };

  /** Ignores the index's 404 for a delete in an empty namespace. A 404 of the control plane means a missing index. */
  async function ignoreEmptyNamespace(target: string, deleting: Promise<void>): Promise<void> {
    try {
      await deleting;
    } catch (thrown) {
      if (!(thrown instanceof VectorStoreError) || thrown.kind !== 'not_found' || !known.has(target)) throw thrown;
    }
  }
}

function administration(
  connection: VectorStoreConnection,
  findIndex: (name: string) => Promise<IndexModel>,
): Pick<OpenVectorStore, 'list' | 'describe' | 'create' | 'remove'> {
  return {
    async list() {
      const { indexes = [] } = await askPinecone(connection, (client) => client.listIndexes());
      return indexes.map(pineconeTarget);
    },
    describe: (name) => findIndex(name).then(pineconeTarget, nullIfMissing),
    async create({ name, dimension, metric }) {
      const { settings, clock, signal } = connection;
      const serverless = {
        cloud: String(settings['cloud'] ?? 'aws'),
        region: String(settings['region'] ?? 'us-east-1'),
      };
      const made = await askPinecone(connection, (client) =>
        client.createIndex({ name, dimension, metric, spec: { serverless } }),
      );
      let ready = made?.status.ready === true;
      for (let tries = 0; !ready && tries < readyTries; tries += 1) {
        await clock.sleep(1_000, signal);
        ready = (await askPinecone(connection, (client) => client.describeIndex(name))).status.ready === true;
      }
    },
    remove: (name) => askPinecone(connection, (client) => client.deleteIndex(name)),
  };
}

function slices<Item>(items: readonly Item[], size: number): (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
