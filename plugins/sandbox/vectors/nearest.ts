import type { StoredRecord } from '../storage/vector-storage.ts';

export type Metric = 'cosine' | 'dot' | 'euclidean' | 'squared' | 'manhattan';

export interface Hit {
  readonly record: StoredRecord;
  readonly score: number;
}

export interface NearestInit {
  readonly pages: AsyncIterable<readonly StoredRecord[]>;
  readonly vector: ArrayLike<number>;
  readonly metric: Metric;
  readonly limit: number;
  readonly accepts: (record: StoredRecord) => boolean;
}

/** Whether a greater score is nearer. */
export function greaterIsNearer(metric: Metric): boolean {
  return metric === 'cosine' || metric === 'dot';
}

/**
 * The records nearest to a vector, nearest first; of equally near ones those that were there first. Looks at every
 * record, a page at a time.
 */
export async function nearest({ pages, vector, metric, limit, accepts }: NearestInit): Promise<readonly Hit[]> {
  const sign = greaterIsNearer(metric) ? -1 : 1;
  const measure = measures[metric];
  // Sorting is stable: records of one score stay in their order.
  const best = (hits: readonly Hit[]): Hit[] =>
    [...hits].sort((left, right) => sign * (left.score - right.score)).slice(0, limit);
  const length = norm(vector);
  let hits: Hit[] = [];
  for await (const page of pages) {
    const found = page.filter(accepts).map((record) => ({ record, score: measure(vector, record.vector, length) }));
    hits = best([...hits, ...found]);
  }
  return hits;
}

/** Length of a vector. */
export function norm(vector: ArrayLike<number>): number {
  return Math.sqrt(dot(vector, vector));
}

/** The vector in length 1; a vector of zeros stays as it is. */
export function normalised(vector: ArrayLike<number>): Float32Array {
  const length = norm(vector);
  return Float32Array.from(vector, (value) => (length === 0 ? value : value / length));
}

type Measure = (left: ArrayLike<number>, right: ArrayLike<number>, leftLength: number) => number;

const measures: Readonly<Record<Metric, Measure>> = {
  cosine: (left, right, leftLength) => {
    const lengths = leftLength * norm(right);
    return lengths === 0 ? 0 : dot(left, right) / lengths;
  },
  dot,
  squared: squaredDistance,
  euclidean: (left, right) => Math.sqrt(squaredDistance(left, right)),
  manhattan: (left, right) => sum(left, right, (one, other) => Math.abs(one - other)),
};

function dot(left: ArrayLike<number>, right: ArrayLike<number>): number {
  let total = 0;
  for (let index = 0; index < left.length; index += 1) total += (left[index] ?? 0) * (right[index] ?? 0);
  return total;
}

function squaredDistance(left: ArrayLike<number>, right: ArrayLike<number>): number {
  return sum(left, right, (one, other) => (one - other) ** 2);
}

function sum(left: ArrayLike<number>, right: ArrayLike<number>, term: (left: number, right: number) => number): number {
  let total = 0;
  for (let index = 0; index < left.length; index += 1) total += term(left[index] ?? 0, right[index] ?? 0);
  return total;
}
