import type { Index, IndexModel, Pinecone } from '@pinecone-database/pinecone';
import { createClientCache } from '../../kit/caches.ts';
import { jsonSize, slices } from '../batches.ts';
import { exchange, exchangeFetch } from '../exchange.ts';
import { unreadableResponse } from '../store-errors.ts';
import { conditions, toBounds, type VectorFilter } from '../vector-filter.ts';
import { nullIfMissing, rememberTargets, vectorMetrics, VectorStoreError } from '../vector-store.ts';
import type {
  NamespaceChoice,
  OpenVectorStore,
  StoredVector,
  VectorMetric,
  VectorStoreConnection,
  VectorTarget,
} from '../vector-store.ts';
import { fromPineconeRecord, toPineconeRecord } from './pinecone-records.ts';

const clients = createClientCache<Pinecone>();

/** Limits of an upsert: 1,000 records and 2 MB. */
const limits = { records: 1_000, bytes: 2_000_000 };
/** Ids of a fetch are in its URL, with up to 512 characters each. */
const idsPerFetch = 50;
/** Maximum ids of a delete. */
const idsPerDelete = 1_000;
/** A new index is ready within seconds. */
const readyTries = 30;

export function openPinecone(connection: VectorStoreConnection): OpenVectorStore {
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

/** One exchange with Pinecone: its control plane, or the index that `call` chooses. Throws VectorStoreError. */
async function askPinecone<T>(connection: VectorStoreConnection, call: (client: Pinecone) => Promise<T>): Promise<T> {
  const { fetch, settings } = connection;
  const { url = '', api_key: apiKey = '' } = settings;
  const client = await clients.get(fetch, [url, apiKey], async () => {
    const { Pinecone } = await import('@pinecone-database/pinecone');
    return new Pinecone({ apiKey, controllerHostUrl: url, fetchApi: exchangeFetch, maxRetries: 0 });
  });
  return exchange(connection, () => call(client));
}

/** Passes the host, so that the package neither requests it nor caches that of a deleted index. */
function indexAt(client: Pinecone, { host }: Pick<IndexModel, 'host'>, namespace: string | undefined): Index {
  if (typeof host !== 'string' || host === '') throw unreadableResponse('no host of the index in it');
  return client.index({ host, ...(namespace !== undefined && namespace !== '' && { namespace }) });
}

function pineconeTarget({ name, dimension, metric }: Pick<IndexModel, 'name' | 'dimension' | 'metric'>): VectorTarget {
  return {
    name,
    dimension: dimension ?? null,
    metric: vectorMetrics.find((known) => known === (metric as VectorMetric)) ?? null,
  };
}

/** Pinecone's filter format, which is MongoDB's. */
type PineconeFilter = Readonly<Record<string, unknown>>;

export function pineconeFilter(filter: VectorFilter): PineconeFilter {
  if ('all' in filter) return { $and: conditions(filter.all).map(pineconeFilter) };
  if ('any' in filter) return { $or: conditions(filter.any).map(pineconeFilter) };
  const { field } = filter;
  if ('equals' in filter) return { [field]: { $eq: filter.equals } };
  if ('unequal' in filter) return missingOr(field, { [field]: { $ne: filter.unequal } });
  if ('in' in filter) return { [field]: { $in: filter.in } };
  if ('notIn' in filter) return missingOr(field, { [field]: { $nin: filter.notIn } });
  if ('exists' in filter) return { [field]: { $exists: filter.exists } };
  return { [field]: toBounds(filter, ['$gte', '$gt', '$lte', '$lt']) };
}

/** Treats a missing field as unequal, which Pinecone does not guarantee. */
function missingOr(field: string, filter: PineconeFilter): PineconeFilter {
  return { $or: [filter, { [field]: { $exists: false } }] };
}
