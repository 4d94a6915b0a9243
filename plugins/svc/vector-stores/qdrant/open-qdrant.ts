import { jsonSize } from '../batches.ts';
import { conditions, toBounds, type FilterValue, type VectorFilter } from '../vector-filter.ts';
import { nullIfMissing, rememberTargets, VectorStoreError } from '../vector-store.ts';
import type {
  OpenVectorStore,
  VectorMetadata,
  VectorMetric,
  VectorStoreConnection,
  VectorTarget,
} from '../vector-store.ts';
import { askQdrant } from './qdrant-client.ts';
import { fromPoint, pointId, toPoint } from './qdrant-points.ts';

/** The server accepts 32 MB; a quarter keeps requests short and the process responsive. */
const limits = { records: 1_000, bytes: 8_000_000 };

export function openQdrant(connection: VectorStoreConnection): OpenVectorStore {
  /** The configuration of a collection's vectors. */
  const { find: findTarget } = rememberTargets(async (name) => {
    const { config } = await askQdrant(connection, (api, init) => api.getCollection({ collection_name: name }, init));
    return qdrantTarget(name, config.params.vectors);
  });

  return {
    ...administration(connection, findTarget),
    writeLimits: () => Promise.resolve(limits),
    sizeOf: (record) => jsonSize(toPoint(record, null)),
    async write(target, records) {
      const { vectorName } = await findTarget(target);
      const points = records.map((record) => toPoint(record, vectorName));
      await askQdrant(connection, (api, init) =>
        api.upsertPoints({ collection_name: target, wait: true, points }, init),
      );
    },
    async query(target, { vector, limit, filter }) {
      const { vectorName, metric } = await findTarget(target);
      const { points } = await askQdrant(connection, (api, init) =>
        api.queryPoints(
          {
            collection_name: target,
            query: [...vector],
            limit,
            with_payload: true,
            ...(vectorName !== null && { using: vectorName }),
            ...(filter !== undefined && { filter: qdrantFilter(filter) }),
          },
          init,
        ),
      );
      return points.map((point) => ({
        ...fromPoint(asPoint(point)),
        score: metric === 'euclidean' ? -point.score : point.score,
      }));
    },
    async fetch(target, ids) {
      if (ids.length === 0) return [];
      const points = await askQdrant(connection, (api, init) =>
        api.getPoints({ collection_name: target, ids: ids.map(pointId), with_payload: true }, init),
      );
      const byId = new Map(points.map((point) => [String(point.id), fromPoint(asPoint(point))]));
      return ids.map((id) => byId.get(String(pointId(id)))).filter((found) => found !== undefined);
    },
    async deleteIds(target, ids) {
      if (ids.length === 0) return;
      await askQdrant(connection, (api, init) =>
        api.deletePoints({ collection_name: target, wait: true, points: ids.map(pointId) }, init),
      );
    },
    async deleteWhere(target, filter) {
      await askQdrant(connection, (api, init) =>
        api.deletePoints({ collection_name: target, wait: true, filter: qdrantFilter(filter) }, init),
      );
    },
    async count(target) {
      return (
        await askQdrant(connection, (api, init) => api.countPoints({ collection_name: target, exact: true }, init))
      ).count;
    },
  };
}

function administration(
  connection: VectorStoreConnection,
  findTarget: (name: string) => Promise<QdrantTarget>,
): Pick<OpenVectorStore, 'list' | 'describe' | 'create' | 'remove'> {
  return {
    async list() {
      const { collections } = await askQdrant(connection, (api, init) => api.getCollections({}, init));
      return Promise.all(
        collections.map(({ name }) =>
          findTarget(name).then(publicTarget, (thrown: unknown) => describedAnyway(name, thrown)),
        ),
      );
    },
    describe: (name) => findTarget(name).then(publicTarget, nullIfMissing),
    async create({ name, dimension, metric }) {
      await askQdrant(connection, (api, init) =>
        api.createCollection(
          { collection_name: name, vectors: { size: dimension, distance: toDistance(metric) } },
          init,
        ),
      );
    },
    async remove(name) {
      const deleted = await askQdrant(connection, (api, init) => api.deleteCollection({ collection_name: name }, init));
      // Qdrant returns false, not 404, for a missing collection.
      if (!deleted)
        throw new VectorStoreError({
          kind: 'not_found',
          status: 200,
          message: `the collection ${name} does not exist.`,
        });
    },
  };
}

function publicTarget({ name, dimension, metric }: QdrantTarget): {
  name: string;
  dimension: number | null;
  metric: QdrantTarget['metric'];
} {
  return { name, dimension, metric };
}

/** An unsupported collection must not hide the others. */
function describedAnyway(name: string, thrown: unknown): { name: string; dimension: null; metric: null } {
  if (thrown instanceof VectorStoreError && (thrown.kind === 'unsupported' || thrown.kind === 'not_found'))
    return { name, dimension: null, metric: null };
  throw thrown;
}

function asPoint(point: { readonly id: unknown; readonly payload?: unknown }): {
  id: string | number;
  payload: VectorMetadata | null;
} {
  return { id: point.id as string | number, payload: (point.payload ?? null) as VectorMetadata | null };
}

const distances = { cosine: 'Cosine', euclidean: 'Euclid', dotproduct: 'Dot' } as const satisfies Record<
  VectorMetric,
  string
>;

function toDistance(metric: VectorMetric): (typeof distances)[VectorMetric] {
  return distances[metric];
}

/** The configuration of a collection's vectors. */
interface QdrantTarget extends VectorTarget {
  /** Name of its vector; null if it is unnamed. */
  readonly vectorName: string | null;
}

/**
 * Reads `config.params.vectors` of a collection with one vector, named or not.
 *
 * @throws VectorStoreError for a collection with several named vectors, because the one to use is unknown.
 */
function qdrantTarget(name: string, vectors: unknown): QdrantTarget {
  if (isParams(vectors)) return { name, vectorName: null, ...described(vectors) };
  const named =
    typeof vectors === 'object' && vectors !== null
      ? Object.entries(vectors).filter((entry) => isParams(entry[1]))
      : [];
  const [first] = named;
  if (first === undefined) return { name, vectorName: null, dimension: null, metric: null };
  if (named.length > 1) {
    throw new VectorStoreError({
      kind: 'unsupported',
      message: `the collection ${name} has several named vectors (${named.map(([key]) => key).join(', ')}); use one with a single vector.`,
    });
  }
  return { name, vectorName: first[0], ...described(first[1] as VectorParams) };
}

interface VectorParams {
  readonly size: number;
  readonly distance?: unknown;
}

function isParams(value: unknown): value is VectorParams {
  return typeof value === 'object' && value !== null && typeof (value as { size?: unknown }).size === 'number';
}

function described({ size, distance }: VectorParams): Pick<VectorTarget, 'dimension' | 'metric'> {
  const metric = (Object.keys(distances) as VectorMetric[]).find((name) => distances[name] === distance);
  return { dimension: size, metric: metric ?? null };
}

/** A condition or a group of conditions in Qdrant's format. */
type QdrantFilter = Readonly<Record<string, unknown>>;

/** The filter of a request, `{must: [...]}`. */
function qdrantFilter(filter: VectorFilter): QdrantFilter {
  return { must: [condition(filter)] };
}

function condition(filter: VectorFilter): QdrantFilter {
  if ('all' in filter) return { must: conditions(filter.all).map(condition) };
  if ('any' in filter) return { should: conditions(filter.any).map(condition) };
  const key = keyOf(filter.field);
  if ('equals' in filter) return equals(key, filter.equals);
  if ('unequal' in filter) return { must_not: [equals(key, filter.unequal)] };
  if ('in' in filter) return oneOf(key, filter.in);
  if ('notIn' in filter) return { must_not: [oneOf(key, filter.notIn)] };
  if ('exists' in filter) return filter.exists ? { must_not: [{ is_empty: { key } }] } : { is_empty: { key } };
  return { key, range: toBounds(filter, ['gte', 'gt', 'lte', 'lt']) };
}

/** A quoted name: dots and brackets would otherwise select nested values. */
function keyOf(field: string): string {
  return /^[\w-]+$/.test(field) ? field : `"${field.replaceAll('"', '\\"')}"`;
}

/** Qdrant matches texts, integers and booleans; other numbers need a range. */
function equals(key: string, value: FilterValue): QdrantFilter {
  const isFraction = typeof value === 'number' && !Number.isSafeInteger(value);
  return isFraction ? { key, range: { gte: value, lte: value } } : { key, match: { value } };
}

/** One condition for a list of texts or integers; for an empty list, a condition that matches nothing. */
function oneOf(key: string, values: readonly FilterValue[]): QdrantFilter {
  const alike =
    values.every((value) => typeof value === 'string') || values.every((value) => Number.isSafeInteger(value));
  return alike ? { key, match: { any: values } } : { should: values.map((value) => equals(key, value)) };
}
