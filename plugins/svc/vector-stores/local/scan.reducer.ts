import type { RowReducer } from '#plugin-api';
import type { VectorFilter } from '../vector-filter.ts';
import type { VectorMetadata, VectorMetric } from '../vector-store.ts';
import { matchesFilter } from './matches-filter.ts';
import { createScore } from './score.ts';
import { fromBytes } from './vector-bytes.ts';

export interface NearestInput {
  readonly vector: Float32Array;
  readonly metric: VectorMetric;
  /** 1 or more. */
  readonly limit: number;
  /** With it, rows have metadata. */
  readonly filter: VectorFilter | null;
}

/** Of rows (id, vector) or (id, vector, metadata): ids and scores of the nearest, nearest first, and by id where scores are equal. */
export function findNearest({ vector, metric, limit, filter }: NearestInput): RowReducer {
  const score = createScore(metric, vector);
  const ids: number[] = [];
  const scores: number[] = [];
  return {
    add([id, bytes, metadata]) {
      if (filter !== null && !matches(metadata, filter)) return;
      const found = score(fromBytes(bytes as Uint8Array));
      if (ids.length === limit && !isBefore(found, Number(id), -1)) return;
      let at = ids.length;
      while (at > 0 && isBefore(found, Number(id), at - 1)) at -= 1;
      ids.splice(at, 0, Number(id));
      scores.splice(at, 0, found);
      if (ids.length > limit) {
        ids.pop();
        scores.pop();
      }
    },
    end: () => ids.flatMap((id, index) => [id, scores[index] ?? 0]),
  };

  /** Whether a result comes before the one at an index, from the end if it is negative. */
  function isBefore(found: number, id: number, index: number): boolean {
    const known = scores.at(index) ?? 0;
    return found > known || (found === known && id < (ids.at(index) ?? 0));
  }
}

/** Of rows (id, metadata): the ids of those that meet a filter. */
export function findMatching({ filter }: { readonly filter: VectorFilter }): RowReducer {
  const ids: number[] = [];
  return {
    add([id, metadata]) {
      if (matches(metadata, filter)) ids.push(Number(id));
    },
    end: () => ids,
  };
}

function matches(metadata: unknown, filter: VectorFilter): boolean {
  return matchesFilter(JSON.parse(String(metadata)) as VectorMetadata, filter);
}
