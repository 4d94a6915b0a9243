import { isRecord } from '#plugin-api';
import type { StoredRecord } from '../../storage/vector-storage.ts';
import { nearest } from '../../vectors/nearest.ts';
import type { Metric } from '../../vectors/nearest.ts';
import { jsonResponse, Refusal } from '../../fake.ts';
import type { FakeResponse, FakeRequest, FakeRoute } from '../../fake.ts';
import { readFilter } from './pinecone-filter.ts';
import { definitionOf } from './pinecone-indexes.ts';
import {
  contentOf,
  hostIndex,
  maxRecords,
  metadataOf,
  collectionKey,
  readMetadata,
  readValues,
  readVectors,
  shown,
} from './pinecone-records.ts';
import { dataError, invalidArgument, objectBody, usage } from './pinecone-reply.ts';

const metrics: Readonly<Record<string, Metric>> = { cosine: 'cosine', dotproduct: 'dot', euclidean: 'squared' };

const namespaceOf = (value: unknown): string => (typeof value === 'string' ? value : '');

async function upsert(request: FakeRequest): Promise<FakeResponse> {
  const index = await hostIndex(request);
  const { vectors, namespace } = objectBody(request.body);
  const records = readVectors(vectors, index);
  await request.storage.put(collectionKey(index, namespace), records);
  return jsonResponse(200, { upsertedCount: records.length });
}

async function query(request: FakeRequest): Promise<FakeResponse> {
  const index = await hostIndex(request);
  const body = objectBody(request.body);
  const { topK, namespace } = body;
  if (typeof topK !== 'number' || !Number.isInteger(topK) || topK < 1 || topK > 10000)
    throw invalidArgument('top_k must be between 1 and 10000');
  const key = collectionKey(index, namespace);
  const filter = readFilter(body['filter']);
  const answer = (matches: readonly unknown[]): FakeResponse =>
    jsonResponse(200, { results: [], matches, namespace: namespaceOf(namespace), usage });
  const vector = await queried(request, body);
  if (!vector) return answer([]);
  const hits = await nearest({
    pages: request.storage.scan(key),
    vector,
    metric: metrics[definitionOf(index).metric] ?? 'cosine',
    limit: topK,
    accepts: (record) => filter(metadataOf(record)),
  });
  const include = { values: body['includeValues'] === true, metadata: body['includeMetadata'] === true };
  return answer(hits.map(({ record, score }) => ({ ...shown(record, include), score: Math.fround(score) })));
}

/** The vector that was given, or that of the record whose id was; undefined when there is no such record. */
async function queried(
  request: FakeRequest,
  { vector, id, namespace }: Readonly<Record<string, unknown>>,
): Promise<Float32Array | undefined> {
  const index = await hostIndex(request);
  if (typeof id !== 'string' || id === '') return readValues(vector, index);
  if (Array.isArray(vector) && vector.length > 0)
    throw invalidArgument('Cannot provide both ID and vector at the same time');
  return (await request.storage.get(collectionKey(index, namespace), [id]))[0]?.vector;
}

async function fetchVectors(request: FakeRequest): Promise<FakeResponse> {
  const index = await hostIndex(request);
  const ids = request.query.getAll('ids');
  if (ids.length === 0) throw invalidArgument('You must specify at least one ID to fetch');
  const namespace = request.query.get('namespace');
  const records = await request.storage.get(collectionKey(index, namespace), ids);
  return jsonResponse(200, { vectors: byId(records), namespace: namespaceOf(namespace), usage });
}

const byId = (records: readonly StoredRecord[]): object =>
  Object.fromEntries(records.map((record) => [record.id, shown(record, { values: true, metadata: true })]));

async function fetchByMetadata(request: FakeRequest): Promise<FakeResponse> {
  const index = await hostIndex(request);
  const { filter, namespace, limit = 100, paginationToken } = objectBody(request.body);
  const accepts = readFilter(filter);
  const page = await pageOf(request, {
    namespace,
    limit: Number(limit),
    token: paginationToken,
    accepts: (record) => accepts(metadataOf(record)),
    index,
  });
  return jsonResponse(200, {
    vectors: byId(page.records),
    namespace: namespaceOf(namespace),
    usage,
    ...page.pagination,
  });
}

async function list(request: FakeRequest): Promise<FakeResponse> {
  const index = await hostIndex(request);
  const { query: asked } = request;
  const limit = Number(asked.get('limit') ?? 100);
  if (!Number.isInteger(limit) || limit < 1 || limit > 100) throw invalidArgument('limit must be between 1 and 100');
  const prefix = asked.get('prefix') ?? '';
  const namespace = asked.get('namespace');
  const page = await pageOf(request, {
    namespace,
    limit,
    token: asked.get('paginationToken'),
    accepts: ({ id }) => id.startsWith(prefix),
    index,
  });
  return jsonResponse(200, {
    vectors: page.records.map(({ id }) => ({ id })),
    ...page.pagination,
    namespace: namespaceOf(namespace),
    usage,
  });
}

interface PageInit {
  readonly index: Awaited<ReturnType<typeof hostIndex>>;
  readonly namespace: unknown;
  readonly limit: number;
  readonly token: unknown;
  readonly accepts: (record: StoredRecord) => boolean;
}

/** Records in the order of their ids, and the token of the next page where there is one. */
async function pageOf(
  { storage }: FakeRequest,
  { index, namespace, limit, token, accepts }: PageInit,
): Promise<{ records: StoredRecord[]; pagination: object }> {
  const after = typeof token === 'string' ? Buffer.from(token, 'base64url').toString() : '';
  const found: StoredRecord[] = [];
  for await (const page of storage.scan(collectionKey(index, namespace), after)) {
    found.push(...page.filter(accepts));
    if (found.length > limit) break;
  }
  const records = found.slice(0, limit);
  const last = found.length > limit ? records.at(-1) : undefined;
  return { records, pagination: last ? { pagination: { next: Buffer.from(last.order).toString('base64url') } } : {} };
}

/** By ids, by a filter, or all; a namespace that is not there is an error, ids that are not there are none. */
async function remove(request: FakeRequest): Promise<FakeResponse> {
  const index = await hostIndex(request);
  const { ids, deleteAll, filter, namespace } = objectBody(request.body);
  const key = collectionKey(index, namespace);
  const byIds = Array.isArray(ids) && ids.length > 0;
  if ([byIds, deleteAll === true, isRecord(filter)].filter(Boolean).length !== 1) {
    throw invalidArgument('Delete requests must specify exactly one of: ids, delete_all, or filter');
  }
  if (byIds && ids.length > maxRecords)
    throw invalidArgument(`Cannot delete more than ${String(maxRecords)} ids in one request`);
  const accepts = readFilter(filter);
  await request.storage.together(async () => {
    if (!(await request.storage.counts(index.id)).has(key.namespace))
      throw new Refusal(dataError(404, 'Namespace not found'));
    if (byIds) await request.storage.remove(key, ids.map(String));
    else if (deleteAll === true) await request.storage.remove(key, null);
    else {
      const found: string[] = [];
      for await (const page of request.storage.scan(key))
        found.push(...page.filter((record) => accepts(metadataOf(record))).map(({ id }) => id));
      await request.storage.remove(key, found);
    }
  });
  return jsonResponse(200, {});
}

/** Changes one record by its id, or the metadata of all that a filter accepts. Others are left as they are. */
async function update(request: FakeRequest): Promise<FakeResponse> {
  const index = await hostIndex(request);
  const { id, values, sparseValues, setMetadata, filter, namespace, dryRun } = objectBody(request.body);
  const key = collectionKey(index, namespace);
  if ((typeof id === 'string') === isRecord(filter))
    throw invalidArgument('Update requests must specify exactly one of: id or filter');
  const accepts = readFilter(filter);
  const vector = values === undefined ? null : readValues(values, index);
  return request.storage.together(async () => {
    const records = typeof id === 'string' ? [...(await request.storage.get(key, [id]))] : [];
    if (typeof id !== 'string')
      for await (const page of request.storage.scan(key))
        records.push(...page.filter((record) => accepts(metadataOf(record))));
    const changed = records.map((record) => ({
      id: record.id,
      order: record.order,
      vector: vector ?? record.vector,
      content: {
        metadata: isRecord(setMetadata)
          ? readMetadata({ ...metadataOf(record), ...setMetadata })
          : contentOf(record).metadata,
        sparseValues: sparseValues ?? contentOf(record).sparseValues,
      },
    }));
    if (dryRun !== true) await request.storage.put(key, changed);
    return jsonResponse(200, { matchedRecords: records.length });
  });
}

async function stats(request: FakeRequest): Promise<FakeResponse> {
  const index = await hostIndex(request);
  const counts = [...(await request.storage.counts(index.id))];
  const { dimension, metric } = definitionOf(index);
  return jsonResponse(200, {
    namespaces: Object.fromEntries(
      counts.map(([namespace, vectorCount]) => [namespace === '' ? '__default__' : namespace, { vectorCount }]),
    ),
    dimension,
    indexFullness: 0,
    totalVectorCount: counts.reduce((sum, [, count]) => sum + count, 0),
    metric,
    vectorType: 'dense',
  });
}

async function listNamespaces(request: FakeRequest): Promise<FakeResponse> {
  const counts = [...(await request.storage.counts((await hostIndex(request)).id))].sort(([left], [right]) =>
    left < right ? -1 : 1,
  );
  const namespaces = counts.map(([name, count]) => ({ name: name === '' ? '__default__' : name, record_count: count }));
  return jsonResponse(200, { namespaces, total_count: namespaces.length });
}

async function oneNamespace(request: FakeRequest): Promise<FakeResponse> {
  const index = await hostIndex(request);
  const name = request.params['namespace'] ?? '';
  const key = collectionKey(index, name);
  const count = (await request.storage.counts(index.id)).get(key.namespace);
  if (count === undefined) throw new Refusal(dataError(404, 'Namespace not found'));
  if (request.method === 'GET') return jsonResponse(200, { name, record_count: count });
  await request.storage.remove(key, null);
  return jsonResponse(200, {});
}

const host = (path: string): RegExp => new RegExp(`^/hosts/(?<index>[^/]+)${path}$`);

/** The data plane of one index. */
export const pineconeDataRoutes: readonly FakeRoute[] = [
  { method: 'POST', path: host('/vectors/upsert'), handle: upsert },
  { method: 'POST', path: host('/query'), handle: query },
  { method: 'GET', path: host('/vectors/fetch'), handle: fetchVectors },
  { method: 'POST', path: host('/vectors/fetch_by_metadata'), handle: fetchByMetadata },
  { method: 'GET', path: host('/vectors/list'), handle: list },
  { method: 'POST', path: host('/vectors/delete'), handle: remove },
  { method: 'POST', path: host('/vectors/update'), handle: update },
  { method: 'POST', path: host('/describe_index_stats'), handle: stats },
  { method: 'GET', path: host('/describe_index_stats'), handle: stats },
  { method: 'GET', path: host('/namespaces'), handle: listNamespaces },
  { method: 'GET', path: host('/namespaces/(?<namespace>[^/]+)'), handle: oneNamespace },
  { method: 'DELETE', path: host('/namespaces/(?<namespace>[^/]+)'), handle: oneNamespace },
];
