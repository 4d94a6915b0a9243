import { jsonSize } from './batches.ts';
import { askQdrant } from './qdrant/qdrant-client.ts';
import { qdrantFilter } from './qdrant/qdrant-filter.ts';
import { fromPoint, toPoint } from './qdrant/qdrant-points.ts';
import { toDistance, qdrantTarget, type QdrantTarget } from './qdrant/qdrant-targets.ts';
import { pointId } from './qdrant/qdrant-points.ts';
import { apiKeyField, urlField } from '../kit/connection-fields.ts';
import { nullIfMissing, rememberTargets, timeoutField, VectorStoreError } from './vector-store.ts';
import type { OpenVectorStore, VectorMetadata, VectorStore, VectorStoreConnection } from './vector-store.ts';

/** The server accepts 32 MB; a quarter keeps requests short and the process responsive. */
const limits = { records: 1_000, bytes: 8_000_000 };

export const store: VectorStore = {
  id: 'qdrant',
  label: 'Qdrant',
  targetKind: 'collection',
  required: ['url'],
  metrics: ['cosine', 'euclidean', 'dotproduct'],
  settings: {
    type: 'object',
    properties: {
      url: urlField({
        description: 'For example http://localhost:6333, or the endpoint of a cluster in Qdrant Cloud.',
      }),
      port: {
        type: 'integer',
        title: 'Port',
        description: 'Used if the URL has no port. Usually 443 behind a proxy.',
        minimum: 1,
        maximum: 65535,
        default: 6333,
      },
      api_key: apiKeyField('Of the cluster; leave it empty for a server without one.'),
      timeout: timeoutField,
    },
  },
  targetName: { pattern: /^[^<>:"/\\|?*\0\x1f]{1,255}$/, rule: '1 to 255 characters, none of < > : " / \\ | ? *' },
  keyOf: (id) => String(pointId(id)),
  open: openQdrant,
};

function openQdrant(connection: VectorStoreConnection): OpenVectorStore {
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
