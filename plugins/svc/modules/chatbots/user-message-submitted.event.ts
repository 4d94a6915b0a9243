import { defineEvent } from '../../kit/define-event.ts';
import { conversationMembers, messageSchema } from '../../kit/event-schemas.ts';

export const userMessageSubmittedEvent = defineEvent({
  name: 'chatbot.user_message_submitted',
  group: 'Chatbots',
  module: 'chatbot',
  origins: ['frontend_user_message'],
  resource: 'conversation_message',
  description: 'A user sends a chatbot message.',
  queued: true,
  schema: {
    type: 'object',
    properties: {
      ...conversationMembers,
      message: messageSchema,
    },
    required: ['bot', 'conversation', 'actor', 'message'],
  },
  example: {
    bot: { id: 12, name: 'Shop assistant' },
    conversation: { id: '0b6f3f5e-6f0d-4f7c-9d0c-3c1e8a4f2b11', message_count: 3 },
    actor: { type: 'user', user_id: 7 },
    message: { id: 'm-3', text: 'And how long does it take?' },
    ai: { provider: 'OpenAI', model: 'gpt-4.1-mini' },
  },
  naturalIds: ({ conversation, message }) => [conversation.id, message.id],
  describe: ({ bot, conversation, message }) => ({ id: message.id ?? conversation.id, label: bot.name }),
  orderBy: ({ conversation }) => conversation.id,
});
