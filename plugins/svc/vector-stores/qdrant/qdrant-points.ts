import { contentKey, splitMetadata } from '../metadata.ts';
import type { StoredVector, VectorMetadata, VectorRecord } from '../vector-store.ts';
import { createHash } from 'node:crypto';

/** RFC 9562's namespace for URLs. */
const namespace = Buffer.from('6ba7b8119dad11d180b400c04fd430c8', 'hex');

/**
 * The id of a point (D15). Qdrant accepts only UUIDs, used in lower case, and unsigned integers. Any other id becomes the
 * UUIDv5 of its text.
 */
export function pointId(id: string): string | number {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) return id.toLowerCase();
  if (/^(0|[1-9]\d{0,15})$/.test(id) && Number.isSafeInteger(Number(id))) return Number(id);
  return uuidV5(id);
}

function uuidV5(name: string): string {
  const bytes = createHash('sha1').update(namespace).update(name, 'utf8').digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Payload key of the caller's id if the point has another one (D15). */
const idKey = 'vector_id';

export interface QdrantPoint {
  readonly id: string | number;
  readonly vector: number[] | Record<string, number[]>;
  readonly payload: Record<string, unknown>;
}

/** @param vectorName name of the collection's vector; null if it is unnamed */
export function toPoint(record: VectorRecord, vectorName: string | null): QdrantPoint {
  const id = pointId(record.id);
  const values = [...record.values];
  // A caller's vector_id would be read back as the id.
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
