import type { PineconeRecord, RecordMetadata } from '@pinecone-database/pinecone';
import { jsonSize } from '../batches.ts';
import { contentKey, flatMetadata, isScalar, splitMetadata } from '../metadata.ts';
import type { StoredVector, VectorRecord } from '../vector-store.ts';

const longestMetadata = 40 * 1024;
const longestId = 512;

export function toPineconeRecord(record: VectorRecord): PineconeRecord {
  return { id: record.id, values: [...record.values], metadata: toMetadata(record) };
}

function toMetadata({ metadata, content }: Pick<VectorRecord, 'metadata' | 'content'>): RecordMetadata {
  return { ...(flatMetadata(metadata, isSupported) as RecordMetadata), [contentKey]: content };
}

/** Texts, numbers, booleans and lists of texts. */
function isSupported(value: unknown): boolean {
  return isScalar(value) || (Array.isArray(value) && value.every((item) => typeof item === 'string'));
}

/** Reports records for which Pinecone would refuse the whole request, after others were written. */
export function refusePineconeRecord({
  id,
  content,
  metadata,
}: Pick<VectorRecord, 'id' | 'content' | 'metadata'>): string | null {
  if (id.length > longestId || !/^[\x20-\x7e]+$/.test(id))
    return `Pinecone takes ids of 1 to ${String(longestId)} ASCII characters, not "${id.slice(0, 60)}".`;
  const reserved = Object.keys(metadata).find((name) => name === '' || name.startsWith('$'));
  if (reserved !== undefined) return `Pinecone does not take the metadata key "${reserved}". Give it another name.`;
  const bytes = jsonSize(toMetadata({ metadata, content }));
  if (bytes <= longestMetadata) return null;
  return (
    `its content and metadata have ${String(bytes)} bytes; Pinecone accepts ${String(longestMetadata)}. ` +
    'Split the content.'
  );
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
