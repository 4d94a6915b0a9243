import { isRecord } from '#plugin-api';
import type { CollectionKey, StoredCollection, StoredRecord } from '../../storage/vector-storage.ts';
import { nearest } from '../../vectors/nearest.ts';
import type { Metric } from '../../vectors/nearest.ts';
import { jsonResponse } from '../../fake.ts';
import type { FakeResponse, FakeRequest, FakeRoute } from '../../fake.ts';
import { collectionById, definitionOf, spaceOf } from './chroma-collections.ts';
import { readWhere, readWhereDocument } from './chroma-filter.ts';
import type { ChromaContent } from './chroma-filter.ts';
import { invalidArgument, objectBody, unreadable } from './chroma-reply.ts';

/** Records of one request, as the server's own checks report them. */
export const maxBatchSize = 5461;

interface Given {
  readonly id: string;
  readonly vector: Float32Array | null;
  /** Null values take a key away. */
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly document: string | null;
  readonly uri: string | null;
}

type Mode = 'add' | 'upsert' | 'update';

const collectionKey = ({ id }: StoredCollection): CollectionKey => ({ collection: id, namespace: '' });
const contentOf = (record: StoredRecord): ChromaContent => record.content as unknown as ChromaContent;

/** `add` leaves existing records alone, `update` what is not; `upsert` writes both. Metadata are merged, as the server does. */
function write(mode: Mode): FakeRoute['handle'] {
  return (request) =>
    request.storage.together(async () => {
      const collection = await collectionById(request);
      const given = readRecords(objectBody(request.body), mode);
      const dimension = checkDimensions(collection, given);
      const held = new Map(
        (
          await request.storage.get(
            collectionKey(collection),
            given.map(({ id }) => id),
          )
        ).map((record) => [record.id, record]),
      );
      const { sequence } = definitionOf(collection);
      const written = new Map<string, StoredRecord>();
      given.forEach((entry, index) => {
        const before = written.get(entry.id) ?? held.get(entry.id);
        if (mode === 'add' ? before : mode === 'update' && !before) return;
        written.set(entry.id, merged(entry, before, `${String(sequence + index).padStart(15, '0')}-${entry.id}`));
      });
      await request.storage.put(collectionKey(collection), [...written.values()]);
      await request.storage.changeCollection({
        ...collection,
        definition: { ...collection.definition, dimension, sequence: sequence + given.length },
      });
      return jsonResponse(mode === 'add' ? 201 : 200, {});
    });
}

function merged(given: Given, before: StoredRecord | undefined, order: string): StoredRecord {
  const known = before && contentOf(before);
  const metadata = Object.fromEntries(
    Object.entries({ ...known?.metadata, ...given.metadata }).filter(([, value]) => value !== null),
  );
  const content: ChromaContent = {
    metadata: Object.keys(metadata).length > 0 ? metadata : null,
    document: given.document ?? known?.document ?? null,
    uri: given.uri ?? known?.uri ?? null,
  };
  return { id: given.id, order, vector: given.vector ?? before?.vector ?? new Float32Array(), content: { ...content } };
}

function readRecords(body: Readonly<Record<string, unknown>>, mode: Mode): Given[] {
  const { ids, embeddings } = body;
  if (!Array.isArray(ids)) throw unreadable('missing field `ids`');
  if (!Array.isArray(embeddings) && mode !== 'update') throw unreadable('missing field `embeddings`');
  const columns = ['embeddings', 'metadatas', 'documents', 'uris'].map((name) => body[name] ?? null);
  if (columns.some((column) => Array.isArray(column) && column.length !== ids.length)) {
    throw invalidArgument('Inconsistent number of IDs, embeddings, documents, URIs and metadatas');
  }
  if (ids.length > maxBatchSize) {
    const most = maxBatchSize.toLocaleString('en-US');
    throw invalidArgument(
      `Cannot submit more than ${most} embeddings at once. Please submit your embeddings in batches of size ${most} or less.`,
    );
  }
  const [vectors, metadatas, documents, uris] = columns.map((column): readonly unknown[] =>
    Array.isArray(column) ? column : [],
  );
  return ids.map((id: unknown, index) => {
    if (typeof id !== 'string') throw unreadable(`ids[${String(index)}]: invalid type, expected a string`);
    return {
      id,
      vector: readVector(vectors?.[index], `embeddings[${String(index)}]`),
      metadata: readMetadata(metadatas?.[index], index),
      document: readText(documents?.[index]),
      uri: readText(uris?.[index]),
    };
  });
}

/** Numbers, or the base64 of their 32-bit floats. */
function readVector(value: unknown, member: string): Float32Array | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string') return new Float32Array(new Uint8Array(Buffer.from(value, 'base64')).buffer);
  if (Array.isArray(value) && value.every((entry) => typeof entry === 'number')) return Float32Array.from(value);
  throw unreadable(`${member}: invalid type, expected a sequence of numbers`);
}

function readMetadata(value: unknown, index: number): Readonly<Record<string, unknown>> | null {
  if (!isRecord(value)) return null;
  const [wrong] =
    Object.entries(value).find(
      ([, entry]) => entry !== null && !['string', 'number', 'boolean'].includes(typeof entry),
    ) ?? [];
  if (wrong !== undefined)
    throw unreadable(
      `metadatas[${String(index)}].${wrong}: data did not match any variant of untagged enum UpdateMetadataValue`,
    );
  return value;
}

function readText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** The collection's dimension, set by its first record. */
function checkDimensions(collection: StoredCollection, given: readonly Given[]): number | null {
  const dimension = definitionOf(collection).dimension ?? given.find(({ vector }) => vector)?.vector?.length ?? null;
  const wrong = given.find(({ vector }) => vector && vector.length !== dimension);
  if (wrong) throw wrongDimension(dimension, wrong.vector?.length ?? 0);
  return dimension;
}

const wrongDimension = (expected: number | null, got: number): Error =>
  invalidArgument(`Collection expecting embedding with dimension of ${String(expected)}, got ${String(got)}`);

function accepting(body: Readonly<Record<string, unknown>>): (record: StoredRecord) => boolean {
  const ids = Array.isArray(body['ids']) ? new Set<unknown>(body['ids']) : null;
  const where = readWhere(body['where']);
  const whereDocument = readWhereDocument(body['where_document']);
  return (record) =>
    (ids === null || ids.has(record.id)) && where(contentOf(record)) && whereDocument(contentOf(record));
}

function included(body: Readonly<Record<string, unknown>>, usual: readonly string[]): readonly string[] {
  return Array.isArray(body['include']) ? body['include'].map(String) : usual;
}

/** The columns of an answer: null where one was not asked for. */
function columnsOf(records: readonly StoredRecord[], include: readonly string[]): Record<string, unknown> {
  const column = <T>(name: string, value: (record: StoredRecord) => T): T[] | null =>
    include.includes(name) ? records.map(value) : null;
  return {
    embeddings: column('embeddings', ({ vector }) => Array.from(vector)),
    documents: column('documents', (record) => contentOf(record).document),
    uris: column('uris', (record) => contentOf(record).uri),
    metadatas: column('metadatas', (record) => contentOf(record).metadata),
  };
}

async function getRecords(request: FakeRequest): Promise<FakeResponse> {
  const collection = await collectionById(request);
  const body = objectBody(request.body);
  const accepts = accepting(body);
  const offset = typeof body['offset'] === 'number' ? body['offset'] : 0;
  const limit = typeof body['limit'] === 'number' ? body['limit'] : Infinity;
  const found: StoredRecord[] = [];
  for await (const page of request.storage.scan(collectionKey(collection))) {
    found.push(...page.filter(accepts));
    if (found.length >= offset + limit) break;
  }
  const records = found.slice(offset, offset + limit);
  const include = included(body, ['documents', 'metadatas']);
  return jsonResponse(200, { ids: records.map(({ id }) => id), ...columnsOf(records, include), include });
}

const metrics: Readonly<Record<ReturnType<typeof spaceOf>, Metric>> = { l2: 'squared', cosine: 'cosine', ip: 'dot' };

async function query(request: FakeRequest): Promise<FakeResponse> {
  const collection = await collectionById(request);
  const body = objectBody(request.body);
  if (!Array.isArray(body['query_embeddings'])) throw unreadable('missing field `query_embeddings`');
  const limit = typeof body['n_results'] === 'number' ? body['n_results'] : 10;
  const accepts = accepting(body);
  const space = spaceOf(collection);
  const { dimension } = definitionOf(collection);
  const groups = [];
  for (const [index, given] of body['query_embeddings'].entries()) {
    const vector = readVector(given, `query_embeddings[${String(index)}]`) ?? new Float32Array();
    if (dimension !== null && vector.length !== dimension) throw wrongDimension(dimension, vector.length);
    groups.push(
      await nearest({
        pages: request.storage.scan(collectionKey(collection)),
        vector,
        metric: metrics[space],
        limit,
        accepts,
      }),
    );
  }
  const include = included(body, ['documents', 'metadatas', 'distances']);
  const columns = groups.map((hits) =>
    columnsOf(
      hits.map(({ record }) => record),
      include,
    ),
  );
  const column = (name: string): unknown => (include.includes(name) ? columns.map((group) => group[name]) : null);
  return jsonResponse(200, {
    ids: groups.map((hits) => hits.map(({ record }) => record.id)),
    embeddings: column('embeddings'),
    documents: column('documents'),
    uris: column('uris'),
    metadatas: column('metadatas'),
    distances: include.includes('distances')
      ? groups.map((hits) => hits.map(({ score }) => Math.fround(space === 'l2' ? score : 1 - score)))
      : null,
    include,
  });
}

async function deleteRecords(request: FakeRequest): Promise<FakeResponse> {
  const collection = await collectionById(request);
  const body = objectBody(request.body);
  const accepts = accepting(body);
  // Neither ids nor a filter: nothing is meant.
  if (!['ids', 'where', 'where_document'].some((name) => body[name] !== undefined && body[name] !== null))
    return jsonResponse(200, {});
  await request.storage.together(async () => {
    const ids: string[] = [];
    for await (const page of request.storage.scan(collectionKey(collection)))
      ids.push(...page.filter(accepts).map(({ id }) => id));
    await request.storage.remove(collectionKey(collection), ids);
  });
  return jsonResponse(200, {});
}

async function count(request: FakeRequest): Promise<FakeResponse> {
  const { id } = await collectionById(request);
  return jsonResponse(200, (await request.storage.counts(id)).get('') ?? 0);
}

const records = (action: string): RegExp =>
  new RegExp(`^/api/v2/tenants/[^/]+/databases/[^/]+/collections/(?<collection>[^/]+)/${action}$`);

/** The records of a collection. */
export const chromaRecordRoutes: readonly FakeRoute[] = [
  { method: 'POST', path: records('add'), handle: write('add') },
  { method: 'POST', path: records('upsert'), handle: write('upsert') },
  { method: 'POST', path: records('update'), handle: write('update') },
  { method: 'POST', path: records('get'), handle: getRecords },
  { method: 'POST', path: records('query'), handle: query },
  { method: 'POST', path: records('delete'), handle: deleteRecords },
  { method: 'GET', path: records('count'), handle: count },
];
