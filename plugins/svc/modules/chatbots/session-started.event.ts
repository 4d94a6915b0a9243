import { defineEvent } from '../../kit/define-event.ts';
import { conversationEvent, conversationExample, conversationMembers, messageSchema } from '../../kit/event-schemas.ts';

export const sessionStartedEvent = defineEvent({
  ...conversationEvent,
  name: 'chatbot.session_started',
  origins: ['frontend_session_started'],
  resource: 'conversation',
  description: 'A new chatbot conversation begins.',
  schema: {
    type: 'object',
    properties: {
      ...conversationMembers,
      message: messageSchema,
    },
    required: ['bot', 'conversation', 'actor'],
  },
  example: {
    ...conversationExample(1),
    actor: { type: 'guest' },
    message: { id: 'm-1', text: 'Do you ship to Norway?' },
  },
  naturalIds: ({ conversation }) => [conversation.id],
  describe: ({ bot, conversation }) => ({ id: conversation.id, label: bot.name }),
});
