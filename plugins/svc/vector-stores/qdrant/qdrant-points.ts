import { contentKey, splitMetadata } from '../metadata.ts';
import type { StoredVector, VectorMetadata, VectorRecord } from '../vector-store.ts';
import { pointId } from './point-id.ts';

/** Where the given id stays when the point's is another (D15). */
const idKey = 'vector_id';

export interface QdrantPoint {
  readonly id: string | number;
  readonly vector: number[] | Record<string, number[]>;
  readonly payload: Record<string, unknown>;
}

/** @param vectorName of the collection's one named vector, or null for the usual unnamed one. */
export function toPoint(record: VectorRecord, vectorName: string | null): QdrantPoint {
  const id = pointId(record.id);
  const values = [...record.values];
  // A caller's own vector_id would be taken for the id when it is read back.
  const keepsId = String(id) !== record.id || Object.hasOwn(record.metadata, idKey);
  return {
    id,
    vector: vectorName === null ? values : { [vectorName]: values },
    payload: { ...record.metadata, [contentKey]: record.content, ...(keepsId && { [idKey]: record.id }) },
  };
}

export function fromPoint(point: {
  readonly id: string | number | bigint;
  readonly payload?: VectorMetadata | null | undefined;
}): StoredVector {
  const { [idKey]: given, ...payload } = point.payload ?? {};
  return { id: typeof given === 'string' ? given : String(point.id), ...splitMetadata(payload) };
}
