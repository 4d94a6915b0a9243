import { apiKeyField, urlField } from '../kit/setting-schemas.ts';
import { timeoutField, type VectorStore } from './vector-store.ts';

export const store: VectorStore = {
  id: 'chroma',
  label: 'Chroma',
  targetKind: 'collection',
  required: ['url'],
  metrics: ['cosine', 'euclidean', 'dotproduct'],
  settings: {
    type: 'object',
    properties: {
      url: urlField({
        description: 'For example http://localhost:8000, or https://api.trychroma.com for Chroma Cloud.',
      }),
      api_key: apiKeyField(
        'Of Chroma Cloud, or the token of your own server; leave it empty for a server without one.',
      ),
      tenant: {
        type: 'string',
        title: 'Tenant',
        description: 'Shown with the API key in Chroma Cloud.',
        default: 'default_tenant',
      },
      database: { type: 'string', title: 'Database', default: 'default_database' },
      timeout: timeoutField,
    },
  },
  targetName: {
    pattern: /^[a-zA-Z0-9][a-zA-Z0-9._-]{1,510}[a-zA-Z0-9]$/,
    rule: '3 to 512 letters, digits, dots, dashes and underscores, with a letter or digit at both ends',
  },
  refuse({ metadata }) {
    const reserved = Object.keys(metadata).find(
      (name) => name === '' || name.startsWith('#') || name.startsWith('chroma:'),
    );
    return reserved === undefined
      ? null
      : `Chroma keeps the metadata key "${reserved}" for itself. Give it another name.`;
  },
  open: async (connection) => (await import('./chroma/open-chroma.ts')).openChroma(connection),
};
