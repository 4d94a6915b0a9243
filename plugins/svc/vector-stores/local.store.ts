import { maxIdLength, maxMetadataBytes, metadataBytes } from './local/limits.ts';
import { timeoutField, type VectorStore } from './vector-store.ts';

/** Vectors in the site's own database (D42): the store of a site that has no other. */
export const store: VectorStore = {
  id: 'local',
  label: 'Site database',
  targetKind: 'collection',
  required: [],
  metrics: ['cosine', 'euclidean', 'dotproduct'],
  isBuiltIn: true,
  settings: { type: 'object', properties: { timeout: timeoutField } },
  targetName: {
    pattern: /^[^\0-\x1f\x7f]{1,255}$/,
    rule: '1 to 255 characters, none of them a control character',
  },
  refuse({ id, metadata }) {
    if (id.length > maxIdLength)
      return `The id has ${String(id.length)} characters; use at most ${String(maxIdLength)}.`;
    const bytes = metadataBytes(metadata);
    return bytes <= maxMetadataBytes
      ? null
      : `The metadata has ${String(bytes)} bytes; the site's database accepts ${String(maxMetadataBytes)}.`;
  },
  open: async (connection) => (await import('./local/open-local.ts')).openLocal(connection),
};
