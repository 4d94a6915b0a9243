import { messagesArgument as argument } from '../../kit/messages.ts';

/** Contract 2.1, for text generation. */
export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** The argument `messages` (contract 4.2). */
export const messagesArgument = argument({ roles: ['system', 'user', 'assistant'], example: 'Say hello.' });
