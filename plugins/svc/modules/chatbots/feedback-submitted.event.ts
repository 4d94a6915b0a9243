import { defineEvent } from '../../kit/define-event.ts';
import { conversationMembers } from '../../kit/event-schemas.ts';

/** Each change of a rating is a separate event: the value is part of the key. */
export const feedbackSubmittedEvent = defineEvent({
  name: 'chatbot.fb_submitted',
  group: 'Chatbots',
  module: 'chatbot',
  origins: ['frontend_feedback'],
  resource: 'conversation_message',
  description: 'A user submits chatbot feedback.',
  queued: true,
  schema: {
    type: 'object',
    properties: {
      ...conversationMembers,
      feedback: {
        type: 'object',
        properties: {
          value: { type: 'string', enum: ['up', 'down', 'none'] },
          message_id: { type: 'string' },
          comment: { type: ['string', 'null'] },
        },
        required: ['value', 'message_id'],
      },
    },
    required: ['bot', 'conversation', 'actor', 'feedback'],
  },
  example: {
    bot: { id: 12, name: 'Shop assistant' },
    conversation: { id: '0b6f3f5e-6f0d-4f7c-9d0c-3c1e8a4f2b11', message_count: 4 },
    actor: { type: 'guest' },
    feedback: { value: 'up', message_id: 'm-4', comment: 'Quick and right.' },
    ai: { provider: 'OpenAI', model: 'gpt-4.1-mini' },
  },
  naturalIds: ({ conversation, feedback }) => [
    conversation.id,
    feedback.message_id,
    feedback.value,
    feedback.comment ?? '',
  ],
  describe: ({ bot, feedback }) => ({ id: feedback.message_id, label: bot.name }),
  orderBy: ({ conversation }) => conversation.id,
});
