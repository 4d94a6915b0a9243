import { defineEvent } from '../../kit/define-event.ts';
import { conversationEvent, conversationExample, conversationMembers } from '../../kit/event-schemas.ts';

/** Each change of a rating is a separate event: the value is part of the key. */
export const feedbackSubmittedEvent = defineEvent({
  ...conversationEvent,
  name: 'chatbot.fb_submitted',
  origins: ['frontend_feedback'],
  resource: 'conversation_message',
  description: 'A user submits chatbot feedback.',
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
    ...conversationExample(4),
    actor: { type: 'guest' },
    feedback: { value: 'up', message_id: 'm-4', comment: 'Quick and right.' },
  },
  naturalIds: ({ conversation, feedback }) => [
    conversation.id,
    feedback.message_id,
    feedback.value,
    feedback.comment ?? '',
  ],
  describe: ({ bot, feedback }) => ({ id: feedback.message_id, label: bot.name }),
});
