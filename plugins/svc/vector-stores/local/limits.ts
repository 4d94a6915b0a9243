import { jsonSize } from '../batches.ts';
import type { VectorMetadata, VectorRecord } from '../vector-store.ts';

/** Components of a vector. */
export const maxDimension = 4_096;
/** Each search reads all vectors of a namespace, so that their number limits its time. */
export const maxVectors = 200_000;
/** Results of a search. */
export const maxResults = 1_000;
/** Characters of an id. */
export const maxIdLength = 512;
/** Bytes of the metadata of one vector, as JSON. */
export const maxMetadataBytes = 40_960;
/** Of one write, which is one transaction. */
export const writeLimits = { records: 1_000, bytes: 8_000_000 } as const;

export const metadataBytes = (metadata: VectorMetadata): number => jsonSize(metadata);

/** Bytes that a record takes in the database. */
export function recordBytes({ id, values, content, metadata }: VectorRecord): number {
  return (
    id.length + values.length * Float32Array.BYTES_PER_ELEMENT + Buffer.byteLength(content) + metadataBytes(metadata)
  );
}
