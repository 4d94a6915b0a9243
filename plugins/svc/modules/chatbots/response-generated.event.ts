import { defineEvent } from '../../kit/define-event.ts';
import { conversationEvent, conversationExample, conversationMembers, messageSchema } from '../../kit/event-schemas.ts';

export const responseGeneratedEvent = defineEvent({
  ...conversationEvent,
  name: 'chatbot.response_generated',
  origins: ['frontend_response_completed'],
  resource: 'conversation_message',
  description: 'A chatbot response is completed.',
  schema: {
    type: 'object',
    properties: {
      ...conversationMembers,
      message: messageSchema,
      response: messageSchema,
    },
    required: ['bot', 'conversation', 'actor', 'response'],
  },
  example: {
    ...conversationExample(4),
    actor: { type: 'user', user_id: 7 },
    message: { id: 'm-3', text: 'And how long does it take?' },
    response: { id: 'm-4', text: 'Three to five working days.' },
  },
  naturalIds: ({ conversation, response }) => [conversation.id, response.id],
  describe: ({ bot, conversation, response }) => ({ id: response.id ?? conversation.id, label: bot.name }),
});
