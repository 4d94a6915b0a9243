/** Schemas that several events share (contract 6.5). */

export const id = { type: ['integer', 'string'] } as const;
export const text = { type: 'string' } as const;

export const actorSchema = {
  type: 'object',
  description: 'Who did it.',
  properties: {
    type: { type: 'string', enum: ['user', 'guest'] },
    user_id: { type: 'integer', minimum: 1, description: 'User of the host; missing for guests.' },
  },
  required: ['type'],
} as const;

/** The actor may also be the service, for example for the images of an automation. */
export const anyActorSchema = {
  type: 'object',
  properties: { type: text, user_id: { type: 'integer', minimum: 1 } },
  required: ['type'],
} as const;

export const aiSchema = {
  type: 'object',
  description: 'Provider and model used.',
  properties: { provider: text, model: text },
} as const;

export const botSchema = {
  type: 'object',
  description: 'The chatbot.',
  properties: { id, name: text },
  required: ['id', 'name'],
} as const;

export const conversationSchema = {
  type: 'object',
  properties: {
    id: { type: 'string', description: 'UUID of the conversation.' },
    message_count: { type: 'integer', minimum: 0 },
  },
  required: ['id'],
} as const;

export const textObjectSchema = { type: 'object', properties: { text }, required: ['text'] } as const;

export const formSchema = { type: 'object', properties: { id, name: text }, required: ['id', 'name'] } as const;

export const messageSchema = {
  type: 'object',
  properties: { id: { type: 'string', description: 'Identifier of the message in its conversation.' }, text },
  required: ['text'],
} as const;

/** What the events of a conversation have in common. An endpoint gets those of one conversation in their order. */
export const conversationEvent = {
  group: 'Chatbots',
  module: 'chatbot',
  queued: true,
  orderBy: ({ conversation }: { readonly conversation: { readonly id: string } }) => conversation.id,
} as const;

const exampleId = '0b6f3f5e-6f0d-4f7c-9d0c-3c1e8a4f2b11';

/** Their members in an example. */
export const conversationExample = (messages: number) =>
  ({
    bot: { id: 12, name: 'Shop assistant' },
    conversation: { id: exampleId, message_count: messages },
    ai: { provider: 'OpenAI', model: 'gpt-4.1-mini' },
  }) as const;

/** The members of every event of a conversation. */
export const conversationMembers = {
  bot: botSchema,
  conversation: conversationSchema,
  actor: actorSchema,
  ai: aiSchema,
} as const;
