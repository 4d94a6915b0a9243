import type { StoredVector, VectorMetadata } from './vector-store.ts';

/** Key of the content in the metadata (D15). */
export const contentKey = 'original_content';

/** Metadata for a store of flat values: unsupported values become JSON text (D15). */
export function flatMetadata(
  metadata: VectorMetadata,
  isSupported: (value: unknown) => boolean,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => [name, isSupported(value) ? value : JSON.stringify(value)]),
  );
}

export function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** The content of stored metadata, and the rest of it. */
export function splitMetadata(stored: VectorMetadata | null | undefined): Pick<StoredVector, 'content' | 'metadata'> {
  const { [contentKey]: content, ...metadata } = stored ?? {};
  return { content: typeof content === 'string' ? content : null, metadata };
}
