import { randomUUID } from 'node:crypto';
import { isRecord } from '#plugin-api';
import type { StoredCollection } from '../../storage/vector-storage.ts';
import type { Metric } from '../../vectors/nearest.ts';
import { Refusal } from '../../fake.ts';
import type { FakeResponse, FakeRequest, FakeRoute } from '../../fake.ts';
import { formatError, objectBody, ok, qdrantError, validationError, wrongInput } from './qdrant-reply.ts';

const distances: Readonly<Record<string, Metric>> = {
  Cosine: 'cosine',
  Dot: 'dot',
  Euclid: 'euclidean',
  Manhattan: 'manhattan',
};

export interface QdrantDefinition {
  readonly vectors: { readonly size: number; readonly distance: string };
  readonly payload_schema: Readonly<Record<string, unknown>>;
}

export function definitionOf({ definition }: StoredCollection): QdrantDefinition {
  return definition as unknown as QdrantDefinition;
}

export function metricOf(collection: StoredCollection): Metric {
  return distances[definitionOf(collection).vectors.distance] ?? 'cosine';
}

const find = ({ storage, params: { collection = '' } }: FakeRequest): Promise<StoredCollection | undefined> =>
  storage.findCollection('qdrant', { scope: '', name: collection });

/** @throws Refusal 404. */
export async function collectionOf(request: FakeRequest): Promise<StoredCollection> {
  const collection = await find(request);
  if (!collection)
    throw new Refusal(
      qdrantError(404, `Not found: Collection \`${request.params['collection'] ?? ''}\` doesn't exist!`),
    );
  return collection;
}

async function create(request: FakeRequest): Promise<FakeResponse> {
  const { collection: name = '' } = request.params;
  checkName(name);
  const definition: QdrantDefinition = {
    vectors: readVectors(objectBody(request.body)['vectors']),
    payload_schema: {},
  };
  const added = await request.storage.addCollection({
    id: randomUUID(),
    store: 'qdrant',
    scope: '',
    name,
    definition: { ...definition },
    createdAt: request.now,
  });
  if (!added) throw new Refusal(qdrantError(409, `Wrong input: Collection \`${name}\` already exists!`));
  return ok(true);
}

function checkName(name: string): void {
  if (name.length > 255) throw validationError('collection_name: value is too long, must be 255 characters or shorter');
  if (/[<>:"/\\|?*\0]/.test(name)) throw validationError('collection_name: value contains invalid characters');
}

/** One vector without a name is what the sandbox holds; named and sparse ones it says it does not. */
function readVectors(vectors: unknown): QdrantDefinition['vectors'] {
  if (!isRecord(vectors) || (vectors['size'] === undefined && vectors['distance'] === undefined)) {
    throw wrongInput(
      'The sandbox holds collections of one vector without a name alone: give `vectors` a `size` and a `distance`.',
    );
  }
  const { size, distance } = vectors;
  if (typeof distance !== 'string' || !(distance in distances)) {
    throw formatError(
      `vectors.distance: unknown variant \`${String(distance)}\`, expected one of \`Cosine\`, \`Euclid\`, \`Dot\`, \`Manhattan\``,
    );
  }
  if (typeof size !== 'number' || !Number.isInteger(size) || size < 0)
    throw formatError('vectors.size: invalid type, expected a nonzero u64');
  if (size < 1 || size > 65536)
    throw validationError(`vectors.size: value ${String(size)} invalid, must be from 1 to 65536`);
  return { ...vectors, size, distance };
}

async function info(request: FakeRequest): Promise<FakeResponse> {
  const collection = await collectionOf(request);
  const { vectors, payload_schema: payloadSchema } = definitionOf(collection);
  return ok({
    status: 'green',
    optimizer_status: 'ok',
    indexed_vectors_count: 0,
    points_count: (await request.storage.counts(collection.id)).get('') ?? 0,
    segments_count: 2,
    config: {
      params: { vectors, shard_number: 1, replication_factor: 1, write_consistency_factor: 1, on_disk_payload: true },
      hnsw_config: { m: 16, ef_construct: 100, full_scan_threshold: 10000, max_indexing_threads: 0, on_disk: false },
      optimizer_config: {
        deleted_threshold: 0.2,
        vacuum_min_vector_number: 1000,
        default_segment_number: 0,
        max_segment_size: null,
        memmap_threshold: null,
        indexing_threshold: 10000,
        flush_interval_sec: 5,
        max_optimization_threads: null,
      },
      wal_config: { wal_capacity_mb: 32, wal_segments_ahead: 0 },
      quantization_config: null,
    },
    payload_schema: payloadSchema,
  });
}

async function remove(request: FakeRequest): Promise<FakeResponse> {
  const collection = await find(request);
  if (collection) await request.storage.removeCollection(collection.id);
  return ok(collection !== undefined);
}

const done = (request: FakeRequest): FakeResponse =>
  ok({ operation_id: request.now, status: request.query.get('wait') === 'true' ? 'completed' : 'acknowledged' });

/** Searches look at every point, so an index of the payload is only remembered. */
async function changeIndex(
  request: FakeRequest,
  change: (schema: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>,
): Promise<FakeResponse> {
  const collection = await collectionOf(request);
  const definition = definitionOf(collection);
  await request.storage.changeCollection({
    ...collection,
    definition: { ...definition, payload_schema: change(definition.payload_schema) },
  });
  return done(request);
}

function addIndex(request: FakeRequest): Promise<FakeResponse> {
  const { field_name: field, field_schema: schema } = objectBody(request.body);
  if (typeof field !== 'string') throw formatError('missing field `field_name`');
  const type = typeof schema === 'string' ? schema : isRecord(schema) ? schema['type'] : 'keyword';
  return changeIndex(request, (known) => ({ ...known, [field]: { data_type: type, points: 0 } }));
}

const removeIndex = (request: FakeRequest): Promise<FakeResponse> =>
  changeIndex(request, (known) =>
    Object.fromEntries(Object.entries(known).filter(([field]) => field !== request.params['field'])),
  );

const at = (rest = ''): RegExp => new RegExp(`^/collections/(?<collection>[^/]+)${rest}$`);

export const qdrantCollectionRoutes: readonly FakeRoute[] = [
  {
    method: 'GET',
    path: /^\/collections$/,
    handle: async ({ storage }) =>
      ok({ collections: (await storage.listCollections('qdrant', '')).map(({ name }) => ({ name })) }),
  },
  { method: 'PUT', path: at(), handle: create },
  { method: 'GET', path: at(), handle: info },
  { method: 'DELETE', path: at(), handle: remove },
  {
    method: 'GET',
    path: at('/exists'),
    handle: async (request) => ok({ exists: (await find(request)) !== undefined }),
  },
  { method: 'PUT', path: at('/index'), handle: addIndex },
  { method: 'DELETE', path: at('/index/(?<field>[^/]+)'), handle: removeIndex },
];
