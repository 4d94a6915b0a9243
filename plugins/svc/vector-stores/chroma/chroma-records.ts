import { contentKey, flatMetadata, isScalar, splitMetadata } from '../metadata.ts';
import type { StoredVector, VectorMetadata, VectorRecord } from '../vector-store.ts';

type ChromaMetadata = Record<string, string | number | boolean>;

export interface ChromaRecords {
  readonly ids: string[];
  readonly embeddings: number[][];
  readonly metadatas: ChromaMetadata[];
  readonly documents: string[];
}

/** Records in Chroma's column format; the content is also the document (D15). */
export function toColumns(records: readonly VectorRecord[]): ChromaRecords {
  return {
    ids: records.map(({ id }) => id),
    embeddings: records.map(({ values }) => [...values]),
    metadatas: records.map(metadataOf),
    documents: records.map(({ content }) => content),
  };
}

function metadataOf({ metadata, content }: VectorRecord): ChromaMetadata {
  return { ...(flatMetadata(metadata, isScalar) as ChromaMetadata), [contentKey]: content };
}

/** JSON serializes it as null, which removes a key; the client would omit a plain null. */
const takenAway = Number.NaN;

/**
 * Adds a null for each stored metadata key that a record no longer has, because Chroma merges metadata.
 */
export function replacing(columns: ChromaRecords, stored: ReadonlyMap<string, VectorMetadata>): ChromaRecords {
  const metadatas = columns.metadatas.map((metadata, index) => {
    const gone = Object.keys(stored.get(columns.ids[index] ?? '') ?? {}).filter(
      (name) => !Object.hasOwn(metadata, name),
    );
    return gone.length === 0 ? metadata : { ...metadata, ...Object.fromEntries(gone.map((name) => [name, takenAway])) };
  });
  return { ...columns, metadatas };
}

/** Bytes of a record in a request: the vector is base64 of 32-bit floats if the server supports it. */
export function columnBytes(record: VectorRecord, base64: boolean): number {
  const rest = Buffer.byteLength(JSON.stringify([record.id, metadataOf(record), record.content]));
  return (
    rest +
    (base64 ? Math.ceil((record.values.length * 4) / 3) * 4 + 3 : Buffer.byteLength(JSON.stringify(record.values)))
  );
}

export function fromColumns(
  id: string,
  metadata: VectorMetadata | null | undefined,
  document: string | null | undefined,
): StoredVector {
  const { content, metadata: rest } = splitMetadata(metadata);
  return { id, content: document ?? content, metadata: rest };
}
