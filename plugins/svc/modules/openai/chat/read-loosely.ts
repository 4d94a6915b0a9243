import { asRecord, isRecord } from '#plugin-api';
import type { ConversationMessage } from '../../../ai/system-text.ts';

/** Characters of a text; what is longer is data, such as a file. */
const longestText = 400_000;

/**
 * Messages that cannot be read strictly, as texts without data, for filters. A vendor with the format gets them as they were sent,
 * which is what counts, and no other one gets these.
 */
export function readLoosely(messages: readonly unknown[]): ConversationMessage[] {
  return messages.map((given) => {
    const { role, content, ...others } = asRecord(given);
    return {
      role: role === 'assistant' || role === 'system' ? role : 'user',
      content: [content, ...Object.values(others)].flatMap(textsIn).join('\n') || '…',
    };
  });
}

/** The texts in a JSON value, names of members included, without data. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return value.length > longestText || value.startsWith('data:') ? [] : [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => (name === 'data' ? [] : [name, ...textsIn(member)]));
}
