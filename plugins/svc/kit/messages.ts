import { argumentBounds } from '#plugin-api';
import { errors } from './errors.ts';

interface ChatMessage {
  readonly role: string;
  readonly content: string;
}

export interface MessagesArgumentInit<Role extends string> {
  readonly roles: readonly Role[];
  readonly example: string;
}

/** The argument `messages` (contract 2.1). */
export function messagesArgument<const Role extends string>({ roles, example }: MessagesArgumentInit<Role>) {
  return {
    type: 'array',
    // More than a body can hold.
    maxItems: 50_000,
    required: true,
    description: 'The conversation so far; the last message has the role user.',
    examples: [[{ role: 'user', content: example }]],
    items: {
      type: 'object',
      properties: {
        role: { type: 'string', enum: roles, required: true },
        content: { type: 'string', required: true, ...argumentBounds.document },
      },
    },
  } as const;
}

/**
 * @throws RestError 400 `rest_svc_invalid_messages` when all content is blank, 400 `rest_svc_invalid_last_message` when the last
 * message is blank or does not have the role user (D5)
 */
export function checkMessages(messages: readonly ChatMessage[]): void {
  if (messages.every(isBlank)) throw errors.invalid_messages();
  const last = messages.at(-1);
  if (!last || last.role !== 'user' || isBlank(last)) throw errors.invalid_last_message();
}

function isBlank(message: ChatMessage): boolean {
  return message.content.trim() === '';
}
