import { defineEvent } from '../../kit/define-event.ts';
import { conversationEvent, conversationExample, conversationMembers, messageSchema } from '../../kit/event-schemas.ts';

export const userMessageSubmittedEvent = defineEvent({
  ...conversationEvent,
  name: 'chatbot.user_message_submitted',
  origins: ['frontend_user_message'],
  resource: 'conversation_message',
  description: 'A user sends a chatbot message.',
  schema: {
    type: 'object',
    properties: {
      ...conversationMembers,
      message: messageSchema,
    },
    required: ['bot', 'conversation', 'actor', 'message'],
  },
  example: {
    ...conversationExample(3),
    actor: { type: 'user', user_id: 7 },
    message: { id: 'm-3', text: 'And how long does it take?' },
  },
  naturalIds: ({ conversation, message }) => [conversation.id, message.id],
  describe: ({ bot, conversation, message }) => ({ id: message.id ?? conversation.id, label: bot.name }),
});
