import { VectorStoreError, type VectorMetric, type VectorTarget } from '../vector-store.ts';

const distances = { cosine: 'Cosine', euclidean: 'Euclid', dotproduct: 'Dot' } as const satisfies Record<
  VectorMetric,
  string
>;

export function toDistance(metric: VectorMetric): (typeof distances)[VectorMetric] {
  return distances[metric];
}

/** The configuration of a collection's vectors. */
export interface QdrantTarget extends VectorTarget {
  /** Name of its vector; null if it is unnamed. */
  readonly vectorName: string | null;
}

/**
 * Reads `config.params.vectors` of a collection with one vector, named or not.
 *
 * @throws VectorStoreError for a collection with several named vectors, because the one to use is unknown.
 */
export function qdrantTarget(name: string, vectors: unknown): QdrantTarget {
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
