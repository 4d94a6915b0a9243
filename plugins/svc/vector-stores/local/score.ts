import type { VectorMetric } from '../vector-store.ts';

/** Scores a vector against that of a search: a higher one is nearer. Both have the same length. */
export type Score = (vector: Float32Array) => number;

export function createScore(metric: VectorMetric, wanted: Float32Array): Score {
  if (metric === 'dotproduct') return (vector) => dot(vector, wanted);
  if (metric === 'euclidean') return (vector) => -distance(vector, wanted);
  const length = Math.sqrt(dot(wanted, wanted));
  return (vector) => {
    const lengths = length * Math.sqrt(dot(vector, vector));
    // A vector of zeros has no direction.
    return lengths === 0 ? 0 : dot(vector, wanted) / lengths;
  };
}

/** Four sums, because each addition would wait for the one before. */
function dot(left: Float32Array, right: Float32Array): number {
  let [first, second, third, fourth] = [0, 0, 0, 0];
  const whole = left.length - (left.length % 4);
  let at = 0;
  for (; at < whole; at += 4) {
    first += (left[at] as number) * (right[at] as number);
    second += (left[at + 1] as number) * (right[at + 1] as number);
    third += (left[at + 2] as number) * (right[at + 2] as number);
    fourth += (left[at + 3] as number) * (right[at + 3] as number);
  }
  for (; at < left.length; at += 1) first += (left[at] as number) * (right[at] as number);
  return first + second + third + fourth;
}

function distance(left: Float32Array, right: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < left.length; at += 1) sum += ((left[at] as number) - (right[at] as number)) ** 2;
  return Math.sqrt(sum);
}
