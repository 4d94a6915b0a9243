import type { JsonSchema } from '#plugin-api';
import { errors } from '../../kit/errors.ts';

/** Contract 2.1, for text generation. */
export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** The argument `messages` (contract 4.2). */
export const messagesArgument = {
  type: 'array',
  required: true,
  description: 'The conversation so far; the last message has the role user.',
  examples: [[{ role: 'user', content: 'Say hello.' }]],
  items: {
    type: 'object',
    properties: {
      role: { type: 'string', enum: ['system', 'user', 'assistant'], required: true },
      content: { type: 'string', required: true },
    },
  },
} as const satisfies JsonSchema;

/**
 * @throws RestError 400 `rest_svc_invalid_messages` when there is nothing but blank content, 400
 * `rest_svc_invalid_last_message` when the last message is not a user's, or blank (D5).
 */
export function checkMessages(messages: readonly Message[]): void {
  if (messages.every(isBlank)) throw errors.invalid_messages();
  const last = messages.at(-1);
  if (!last || last.role !== 'user' || isBlank(last)) throw errors.invalid_last_message();
}

function isBlank(message: Message): boolean {
  return message.content.trim() === '';
}
