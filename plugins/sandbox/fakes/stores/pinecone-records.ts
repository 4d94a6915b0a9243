import { asRecord, isRecord } from '#plugin-api';
import type { CollectionKey, StoredCollection, StoredRecord } from '../../storage/vector-storage.ts';
import { Refusal } from '../../fake.ts';
import type { FakeRequest } from '../../fake.ts';
import { definitionOf } from './pinecone-indexes.ts';
import { dataError, invalidArgument } from './pinecone-reply.ts';

/** Records of one upsert, ids of one delete or fetch. */
export const maxRecords = 1000;
/** Bytes of one record's metadata. */
const maxMetadata = 40960;

export interface PineconeContent {
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly sparseValues: unknown;
}

export const contentOf = (record: StoredRecord): PineconeContent => record.content as unknown as PineconeContent;
export const metadataOf = (record: StoredRecord): Readonly<Record<string, unknown>> => contentOf(record).metadata ?? {};

/** The index a host belongs to. @throws Refusal 404. */
export async function hostIndex({ storage, params: { index = '' } }: FakeRequest): Promise<StoredCollection> {
  const found = await storage.findCollection('pinecone', { scope: '', name: index });
  if (!found) throw new Refusal(dataError(404, 'Index not found'));
  return found;
}

/** `__default__`, the empty string and no namespace at all are one. */
export function collectionKey({ id }: StoredCollection, namespace: unknown): CollectionKey {
  return { collection: id, namespace: typeof namespace === 'string' && namespace !== '__default__' ? namespace : '' };
}

/** @throws Refusal unless the values have the dimension of the index. */
export function readValues(values: unknown, index: StoredCollection): Float32Array {
  if (!Array.isArray(values) || !values.every((value) => typeof value === 'number'))
    throw invalidArgument('Invalid vector values: expected a list of numbers');
  const { dimension } = definitionOf(index);
  if (values.length !== dimension)
    throw invalidArgument(
      `Vector dimension ${String(values.length)} does not match the dimension of the index ${String(dimension)}`,
    );
  return Float32Array.from(values);
}

/** @throws Refusal in Pinecone's shape for what an upsert must not hold. */
export function readVectors(vectors: unknown, index: StoredCollection): StoredRecord[] {
  if (!Array.isArray(vectors) || vectors.length === 0)
    throw invalidArgument('No vectors provided for upsert. Please provide at least one vector.');
  if (vectors.length > maxRecords)
    throw invalidArgument(
      `Too many vectors in upsert request: ${String(vectors.length)} is more than the limit of ${String(maxRecords)} vectors`,
    );
  return vectors.map((vector: unknown) => {
    const { id, values, sparseValues = null, metadata } = asRecord(vector);
    if (typeof id !== 'string' || id === '') throw invalidArgument('Vector ID must be a non-empty string');
    if (id.length > 512) throw invalidArgument(`Vector ID must be at most 512 characters, got ${String(id.length)}`);
    const content: PineconeContent = { metadata: readMetadata(metadata), sparseValues };
    return { id, order: id, vector: nonZero(readValues(values, index), index, id), content: { ...content } };
  });
}

function nonZero(vector: Float32Array, index: StoredCollection, id: string): Float32Array {
  if (definitionOf(index).metric !== 'euclidean' && vector.every((value) => value === 0)) {
    throw invalidArgument(
      `Dense vectors must contain at least one non-zero value. Vector ID ${id} contains only zeros.`,
    );
  }
  return vector;
}

/** Strings, numbers, booleans and lists of strings, 40 KB in all. */
export function readMetadata(metadata: unknown): PineconeContent['metadata'] {
  if (!isRecord(metadata)) return null;
  for (const [field, value] of Object.entries(metadata)) {
    const fits =
      ['string', 'number', 'boolean'].includes(typeof value) ||
      (Array.isArray(value) && value.every((entry) => typeof entry === 'string'));
    if (!fits)
      throw invalidArgument(
        `Metadata value must be a string, number, boolean or list of strings, got '${JSON.stringify(value)}' for field '${field}'`,
      );
  }
  const bytes = Buffer.byteLength(JSON.stringify(metadata));
  if (bytes > maxMetadata)
    throw invalidArgument(
      `Metadata size is ${String(bytes)} bytes, which exceeds the limit of ${String(maxMetadata)} bytes per vector`,
    );
  return metadata;
}

/** A record as answers show it. */
export function shown(
  record: StoredRecord,
  include: { readonly values: boolean; readonly metadata: boolean },
): Record<string, unknown> {
  const { metadata, sparseValues } = contentOf(record);
  return {
    id: record.id,
    values: include.values ? Array.from(record.vector) : [],
    ...(include.values && sparseValues !== null && { sparseValues }),
    ...(include.metadata && metadata && { metadata }),
  };
}
