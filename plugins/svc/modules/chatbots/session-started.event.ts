import { defineEvent } from '../../kit/define-event.ts';
import { conversationMembers, messageSchema } from '../../kit/event-schemas.ts';

export const sessionStartedEvent = defineEvent({
  name: 'chatbot.session_started',
  group: 'Chatbots',
  module: 'chatbot',
  origins: ['frontend_session_started'],
  resource: 'conversation',
  description: 'A new chatbot conversation begins.',
  queued: true,
  schema: {
    type: 'object',
    properties: {
      ...conversationMembers,
      message: messageSchema,
    },
    required: ['bot', 'conversation', 'actor'],
  },
  example: {
    bot: { id: 12, name: 'Shop assistant' },
    conversation: { id: '0b6f3f5e-6f0d-4f7c-9d0c-3c1e8a4f2b11', message_count: 1 },
    actor: { type: 'guest' },
    message: { id: 'm-1', text: 'Do you ship to Norway?' },
    ai: { provider: 'OpenAI', model: 'gpt-4.1-mini' },
  },
  naturalIds: ({ conversation }) => [conversation.id],
  describe: ({ bot, conversation }) => ({ id: conversation.id, label: bot.name }),
  orderBy: ({ conversation }) => conversation.id,
});
