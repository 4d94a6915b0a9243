import { apiKeyField, urlField } from '../kit/setting-schemas.ts';
import { refusePineconeRecord } from './pinecone/pinecone-records.ts';
import { timeoutField, type VectorStore } from './vector-store.ts';

export const store: VectorStore = {
  id: 'pinecone',
  label: 'Pinecone',
  targetKind: 'index',
  required: ['api_key', 'url'],
  metrics: ['cosine', 'euclidean', 'dotproduct'],
  settings: {
    type: 'object',
    properties: {
      api_key: apiKeyField('From app.pinecone.io, under API keys.'),
      url: urlField({
        description: 'URL of the control plane. Change it only for a compatible server.',
        address: 'https://api.pinecone.io',
      }),
      cloud: {
        type: 'string',
        title: 'Cloud',
        description: 'Cloud for new indexes.',
        enum: ['aws', 'gcp', 'azure'],
        ui: { labels: { aws: 'AWS', gcp: 'Google Cloud' } },
        default: 'aws',
      },
      region: {
        type: 'string',
        title: 'Region',
        description: 'Region of the cloud, for example us-east-1.',
        default: 'us-east-1',
      },
      timeout: timeoutField,
    },
  },
  targetName: {
    pattern: /^[a-z0-9]([a-z0-9-]{0,43}[a-z0-9])?$/,
    rule: '1 to 45 lower-case letters, digits and dashes, with no dash at either end',
  },
  refuse: refusePineconeRecord,
  open: async (connection) => (await import('./pinecone/open-pinecone.ts')).openPinecone(connection),
};
