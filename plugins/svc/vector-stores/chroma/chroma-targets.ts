import type { VectorMetric, VectorTarget } from '../vector-store.ts';
import type { ChromaCollection } from './chroma-client.ts';

/** Where the dimension asked for at creation stays: Chroma itself learns it from the first vector. */
export const dimensionKey = 'svc_dimension';

const spaces = { cosine: 'cosine', euclidean: 'l2', dotproduct: 'ip' } as const satisfies Record<VectorMetric, string>;

export function spaceOf(metric: VectorMetric): (typeof spaces)[VectorMetric] {
  return spaces[metric];
}

export function chromaTarget({
  name,
  dimension,
  metadata,
  configuration_json: configuration,
}: ChromaCollection): VectorTarget {
  const asked = metadata?.[dimensionKey];
  const space = configuration?.hnsw?.space ?? configuration?.spann?.space ?? metadata?.['hnsw:space'] ?? 'l2';
  return {
    name,
    dimension: dimension ?? (typeof asked === 'number' ? asked : null),
    metric: (Object.keys(spaces) as VectorMetric[]).find((metric) => spaces[metric] === space) ?? null,
  };
}

/** Chroma's distances are 0 for the same vector, and grow; scores are the other way round. */
export function scoreOf(distance: number, metric: VectorMetric | null): number {
  return metric === 'euclidean' ? -distance : 1 - distance;
}
