import { defineEvent } from '../../kit/define-event.ts';
import { aiSchema, id, text } from '../../kit/event-schemas.ts';

/** Fires for completed and for finally failed items, with the status (D18). */
export const itemCompletedEvent = defineEvent({
  name: 'task.item_completed',
  group: 'Automations',
  module: 'automated_tasks',
  origins: ['queue_processor'],
  resource: 'queue_item',
  description: 'An automation queue item finishes.',
  queued: false,
  schema: {
    type: 'object',
    properties: {
      task: { type: 'object', properties: { id, name: text, type: text }, required: ['id'] },
      queue_item: {
        type: 'object',
        properties: {
          id,
          target_identifier: { type: ['string', 'integer'] },
          status: text,
          attempts: { type: 'integer', minimum: 0 },
        },
        required: ['id', 'status'],
      },
      result: {
        type: 'object',
        properties: {
          message: text,
          generated_post_id: { type: 'integer' },
          data: { type: 'object', description: 'Values that the task returns, by name.' },
        },
      },
      ai: aiSchema,
    },
    required: ['task', 'queue_item'],
  },
  example: {
    task: { id: 5, name: 'Weekly articles', type: 'content_writing' },
    queue_item: { id: 230, target_identifier: 'mountain coffee', status: 'completed', attempts: 1 },
    result: { message: 'The draft was saved.', generated_post_id: 81 },
    ai: { provider: 'Claude', model: 'claude-sonnet-4-5' },
  },
  naturalIds: ({ queue_item: item }) => [item.id, item.status, item.attempts ?? 1],
  describe: ({ task, queue_item: item }) => ({ id: item.id, label: task.name ?? '' }),
});
