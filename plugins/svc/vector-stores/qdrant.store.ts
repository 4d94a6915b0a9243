import { apiKeyField, urlField } from '../kit/setting-schemas.ts';
import { pointId } from './qdrant/qdrant-points.ts';
import { timeoutField, type VectorStore } from './vector-store.ts';

export const store: VectorStore = {
  id: 'qdrant',
  label: 'Qdrant',
  targetKind: 'collection',
  required: ['url'],
  metrics: ['cosine', 'euclidean', 'dotproduct'],
  settings: {
    type: 'object',
    properties: {
      url: urlField({
        description: 'For example http://localhost:6333, or the endpoint of a cluster in Qdrant Cloud.',
      }),
      port: {
        type: 'integer',
        title: 'Port',
        description: 'Used if the URL has no port. Usually 443 behind a proxy.',
        minimum: 1,
        maximum: 65535,
        default: 6333,
      },
      api_key: apiKeyField('Of the cluster; leave it empty for a server without one.'),
      timeout: timeoutField,
    },
  },
  targetName: { pattern: /^[^<>:"/\\|?*\0\x1f]{1,255}$/, rule: '1 to 255 characters, none of < > : " / \\ | ? *' },
  keyOf: (id) => String(pointId(id)),
  open: async (connection) => (await import('./qdrant/open-qdrant.ts')).openQdrant(connection),
};
