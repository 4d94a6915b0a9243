import type { PineconeRecord, RecordMetadata } from '@pinecone-database/pinecone';
import { jsonSize } from '../batches.ts';
import { contentKey, flatMetadata, isScalar, splitMetadata } from '../metadata.ts';
import type { StoredVector, VectorRecord } from '../vector-store.ts';

const longestMetadata = 40 * 1024;
const longestId = 512;

export function toPineconeRecord(record: VectorRecord): PineconeRecord {
  return { id: record.id, values: [...record.values], metadata: metadataOf(record) };
}

function metadataOf({ metadata, content }: Pick<VectorRecord, 'metadata' | 'content'>): RecordMetadata {
  return { ...(flatMetadata(metadata, holds) as RecordMetadata), [contentKey]: content };
}

/** Texts, numbers, booleans and lists of texts. */
function holds(value: unknown): boolean {
  return isScalar(value) || (Array.isArray(value) && value.every((item) => typeof item === 'string'));
}

/** Pinecone would refuse these with the whole request, when others are written already. */
export function refusePineconeRecord({
  id,
  content,
  metadata,
}: Pick<VectorRecord, 'id' | 'content' | 'metadata'>): string | null {
  if (id.length > longestId || !/^[\x20-\x7e]+$/.test(id))
    return `Pinecone takes ids of 1 to ${String(longestId)} ASCII characters, not "${id.slice(0, 60)}".`;
  const reserved = Object.keys(metadata).find((name) => name === '' || name.startsWith('$'));
  if (reserved !== undefined) return `Pinecone does not take the metadata key "${reserved}". Give it another name.`;
  const bytes = jsonSize(metadataOf({ metadata, content }));
  if (bytes <= longestMetadata) return null;
  return `its content and metadata together are ${String(bytes)} bytes; Pinecone holds ${String(longestMetadata)}. Split the content.`;
}

export function fromPineconeRecord({
  id,
  metadata,
}: {
  readonly id: string;
  readonly metadata?: RecordMetadata | undefined;
}): StoredVector {
  return { id, ...splitMetadata(metadata) };
}
