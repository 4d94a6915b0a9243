import { defineEvent } from '../../kit/define-event.ts';
import { id, text } from '../../kit/event-schemas.ts';

export const sourceIndexedEvent = defineEvent({
  name: 'kb.source_indexed',
  group: 'Knowledge Base',
  module: 'knowledge_base',
  origins: ['admin_knowledge_base', 'automated_task_indexing'],
  resource: 'vector_source',
  description: 'A knowledge source is indexed successfully.',
  queued: false,
  schema: {
    type: 'object',
    properties: {
      source: {
        type: 'object',
        properties: {
          log_id: id,
          post_id: { type: ['integer', 'null'] },
          post_title: text,
          post_url: { type: ['string', 'null'] },
        },
        required: ['log_id'],
      },
      provider: text,
      store: { type: 'object', properties: { id, name: text }, required: ['id'] },
      status: text,
      message: text,
      embedding: { type: 'object', properties: { provider: text, model: text } },
    },
    required: ['source', 'provider', 'store', 'status'],
  },
  example: {
    source: { log_id: 77, post_id: 42, post_title: 'Shipping', post_url: 'https://shop.example.com/shipping' },
    provider: 'Qdrant',
    store: { id: 'shop', name: 'shop' },
    status: 'indexed',
    message: '12 passages were indexed.',
    embedding: { provider: 'OpenAI', model: 'text-embedding-3-small' },
  },
  naturalIds: ({ source }) => [source.log_id],
  describe: ({ source }) => ({ id: source.log_id, label: source.post_title ?? '' }),
});
