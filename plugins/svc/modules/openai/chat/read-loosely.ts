import { asRecord, isRecord } from '#plugin-api';
import type { ConversationMessage, MessageImage } from '../../../ai/system-text.ts';
import type { TextExtras } from '../../../kit/tools.ts';

/** Characters of a text that is counted; what is longer is data, such as a file. */
const longestText = 400_000;

/** Counts as an image, which is more than most files, sounds and videos of a request cost. */
const anyData: MessageImage = { bytes: new Uint8Array(), mimeType: 'image/png' };

/**
 * Messages and tools that cannot be read strictly, as far as their tokens can be counted: all texts, and an image for each part with
 * data. A vendor with the format gets them as they were sent, and no other one gets these.
 */
export function readLoosely(messages: readonly unknown[], tools: unknown): Loosely {
  return {
    messages: messages.map((given) => {
      const { role, content, ...others } = asRecord(given);
      const parts = Array.isArray(content) ? content : [];
      const data = parts.filter((part) => isRecord(part) && part['type'] !== 'text' && part['type'] !== 'refusal');
      return {
        role: role === 'assistant' || role === 'system' ? role : 'user',
        content: [content, ...Object.values(others)].flatMap(textsIn).join('\n') || '…',
        images: data.map(() => anyData),
      };
    }),
    tools: Array.isArray(tools) ? tools.map((tool) => ({ name: 'tool', description: textsIn(tool).join('\n') })) : [],
  };
}

type Loosely = { readonly messages: readonly ConversationMessage[] } & Pick<TextExtras, 'tools'>;

/** The texts in a JSON value, names of members included, without data. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return value.length > longestText || value.startsWith('data:') ? [] : [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => (name === 'data' ? [] : [name, ...textsIn(member)]));
}
