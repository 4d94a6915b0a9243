import { localDay } from '#plugin-api';
import type { Reasoning } from '../kit/reasoning.ts';
import type { ToolCall } from '../kit/tools.ts';
import type { MessageImage, TextMessage } from '../providers/provider.ts';

export type { MessageImage, TextMessage };

export interface ConversationMessage {
  /** `tool`: what a function returned. */
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string;
  /** Of a user, for models that read images. PNG, JPEG, GIF or WebP. */
  readonly images?: readonly MessageImage[] | undefined;
  /** Of an assistant: the functions it called. */
  readonly toolCalls?: readonly ToolCall[] | undefined;
  /** Of a tool: the id of the call. */
  readonly toolCallId?: string | undefined;
  /** Who wrote it, if several participants share a role. */
  readonly name?: string | undefined;
  /** Of an assistant: what it thought before. */
  readonly reasoning?: readonly Reasoning[] | undefined;
}

export interface Placeholders {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** IANA name of the site's time zone. */
  readonly timezone: string;
  /** Display name of the signed-in user, else `Guest`. */
  readonly username: string;
}

export interface Conversation {
  readonly system: string | null;
  readonly messages: readonly TextMessage[];
}

/**
 * Separates the system text from a conversation (contract 4.2, D7): a non-blank instruction, else all `system` messages
 * joined by a blank line. Drops blank messages without images or tools, which some providers refuse.
 *
 * @param placeholders of the instruction; null if it has been filled in already. `system` messages have none (contract 4.2).
 */
export function splitConversation(
  given: readonly ConversationMessage[],
  instruction: string | undefined,
  placeholders: Placeholders | null,
): Conversation {
  const filled = given.filter(
    ({ role, content, images = [], toolCalls = [] }) =>
      content.trim() !== '' || images.length > 0 || toolCalls.length > 0 || role === 'tool',
  );
  const joined = filled
    .filter(({ role }) => role === 'system')
    .map(({ content }) => content)
    .join('\n\n');
  const isInstructed = instruction !== undefined && instruction.trim() !== '';
  const filledIn = isInstructed && placeholders !== null ? fillPlaceholders(instruction, placeholders) : instruction;
  const text = isInstructed ? (filledIn ?? '') : joined;
  const messages = filled
    .filter((message): message is TextMessage => message.role !== 'system')
    .map(({ role, content, images = [], toolCalls = [], toolCallId, name, reasoning = [] }) => ({
      role,
      content,
      ...(images.length > 0 && { images }),
      ...(toolCalls.length > 0 && { toolCalls }),
      ...(toolCallId !== undefined && { toolCallId }),
      ...(name !== undefined && { name }),
      ...(reasoning.length > 0 && { reasoning }),
    }));
  return { system: text === '' ? null : text, messages };
}

/** `[date]` becomes the site's local date (YYYY-MM-DD), `[username]` the user's name; inserted text is not expanded again. */
export function fillPlaceholders(text: string, { now, timezone, username }: Placeholders): string {
  return text.replace(/\[(date|username)\]/g, (_, name: string) =>
    name === 'date' ? localDay(now, timezone) : username,
  );
}
