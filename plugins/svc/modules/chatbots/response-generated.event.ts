import { defineEvent } from '../../kit/define-event.ts';
import { conversationMembers, messageSchema } from '../../kit/event-schemas.ts';

export const responseGeneratedEvent = defineEvent({
  name: 'chatbot.response_generated',
  group: 'Chatbots',
  module: 'chatbot',
  origins: ['frontend_response_completed'],
  resource: 'conversation_message',
  description: 'A chatbot response is completed.',
  queued: true,
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
    bot: { id: 12, name: 'Shop assistant' },
    conversation: { id: '0b6f3f5e-6f0d-4f7c-9d0c-3c1e8a4f2b11', message_count: 4 },
    actor: { type: 'user', user_id: 7 },
    message: { id: 'm-3', text: 'And how long does it take?' },
    response: { id: 'm-4', text: 'Three to five working days.' },
    ai: { provider: 'OpenAI', model: 'gpt-4.1-mini' },
  },
  naturalIds: ({ conversation, response }) => [conversation.id, response.id],
  describe: ({ bot, conversation, response }) => ({ id: response.id ?? conversation.id, label: bot.name }),
  orderBy: ({ conversation }) => conversation.id,
});
