import type { VectorRecord, WriteLimits } from './vector-store.ts';

/** Bytes around the records of a request: member names, namespace, brackets. */
const envelope = 2_000;

/**
 * Splits records into batches for one request each, in their order. A record beyond the limit is sent alone; the store may
 * refuse it.
 */
export function splitBatches(
  records: readonly VectorRecord[],
  limits: WriteLimits,
  sizeOf: (record: VectorRecord) => number = jsonSize,
): VectorRecord[][] {
  const batches: VectorRecord[][] = [];
  let batch: VectorRecord[] = [];
  let bytes = envelope;
  for (const record of records) {
    const size = sizeOf(record) + 1;
    if (batch.length > 0 && (batch.length >= limits.records || bytes + size > limits.bytes)) {
      batches.push(batch);
      batch = [];
      bytes = envelope;
    }
    batch.push(record);
    bytes += size;
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}

/** Bytes of a value as JSON in UTF-8. */
export function jsonSize(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Parts of a list, each of at most so many items. */
export function slices<Item>(items: readonly Item[], size: number): (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
