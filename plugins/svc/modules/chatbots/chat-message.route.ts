import { argumentBounds } from '#plugin-api';
import type { JsonSchema, ParamsOf, RouteArgument, RouteArguments } from '#plugin-api';
import type { ChatbotParts } from './chatbots.ts';
import { messagesArgument } from '../../kit/messages.ts';
import { usageSchema, definePostRoute } from '../../kit/route.ts';

const path = '/chat/{bot_id}/message';

const responseSchema = {
  type: 'object',
  title: 'chat',
  properties: {
    reply: { type: 'string', description: "The chatbot's answer." },
    usage: usageSchema,
    bot_id: { type: 'integer', description: 'Id of the chatbot.' },
    model: { type: 'string', description: 'Model used.' },
  },
} as const satisfies JsonSchema;

/** Accepts UUIDs in any case; the host's own format accepts only lowercase letters. */
const uuidArgument = {
  type: 'string',
  format: 'uuid',
  ...argumentBounds.uuid,
  description:
    'Stores this chat turn in the logs, under this conversation. It must not belong to another chatbot, key or user, or to a visitor.',
  validate: (value) =>
    typeof value === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value)
      ? true
      : 'conversation_uuid is not a valid UUID.',
  sanitize: (value) => String(value).toLowerCase(),
} as const satisfies RouteArgument;

const description = [
  "The reply follows the chatbot's saved settings: provider, model, instructions, knowledge, temperature,",
  'maximum answer length, and how many recent messages are sent to the model.',
  'The call is stateless: send the whole conversation each time. With `conversation_uuid` the last message and the reply',
  'are also stored in the logs; a new UUID starts a conversation.',
  'Calls with the same header `Idempotency-Key` are stored once.',
  "Limits, banned words, rules and consent apply to the chatbot's visitors, not to calls with the REST key.",
  'No events are sent.',
].join(' ');

const args = {
  bot_id: {
    type: 'integer',
    required: true,
    ...argumentBounds.anyInteger,
    minimum: 1,
    description: 'Id of the chatbot.',
  },
  messages: messagesArgument({ roles: ['user', 'assistant'], example: 'Do you ship to Norway?' }),
  conversation_uuid: uuidArgument,
  stream: { type: 'boolean', description: 'Not supported. Omit it or set it to false.' },
} as const satisfies RouteArguments;

/** Validated parameters of the path and the body. */
export type ChatParams = ParamsOf<typeof args>;

/** `POST /chat/{bot_id}/message` (contract 4.5; D5, D7, D12, D13, D25). */
export const chatMessageRoute = definePostRoute({
  path,
  access: 'chat',
  hasDryRun: true,
  summary: 'Send a conversation to a chatbot.',
  description,
  schema: responseSchema,
  args: () => args,
  responses: {
    400: {
      description:
        'Invalid parameters, no message (rest_svc_invalid_messages), a last message that is blank or not from the user ' +
        '(rest_svc_invalid_last_message), stream: true (rest_svc_streaming_not_supported), a conversation_uuid for a ' +
        'chatbot that does not store conversations (rest_svc_conversations_not_kept), or the provider is not configured ' +
        '(rest_svc_provider_not_configured) or rejected the request (rest_svc_provider_rejected).',
    },
    404: { description: 'The chatbot does not exist or is inactive (rest_svc_bot_not_found).' },
    409: {
      description:
        'The conversation_uuid belongs to another chatbot, key or user, or to a visitor (rest_svc_conversation_taken).',
    },
  },
  handler: async (request, parts: ChatbotParts) =>
    (await import('./answer-chat.ts')).answerChat(request, { parts, path }),
});
