import { isRecord } from '#plugin-api';
import { openReasoning, sealReasoning, type Reasoning } from '../../../kit/reasoning.ts';
import { invalid } from '../../../kit/read-members.ts';

type Members = Readonly<Record<string, unknown>>;

/**
 * Reasoning in the members of a message or a delta that most clients know (D40): `reasoning_content` for people, and in
 * `reasoning_details`, as OpenRouter has them, what the next request must repeat. Items of other formats are sealed there.
 */
export function reasoningMembers(reasoning: readonly Reasoning[]): Members {
  const text = reasoning.map((piece) => piece.text).join('');
  const details = reasoning.flatMap(({ item, format }) => {
    if (item === undefined) return [];
    return [
      format === 'chat' ? item : { type: 'reasoning.encrypted', data: sealReasoning({ item, format }), format: 'svc' },
    ];
  });
  return { ...(text !== '' && { reasoning_content: text }), ...(details.length > 0 && { reasoning_details: details }) };
}

/** The members of a message that may have reasoning. */
export const reasoningNames = ['reasoning_content', 'reasoning', 'reasoning_details'] as const;

/** The reasoning that a client sends back with a message of an assistant. @throws RestError 400 that names the member */
export function readReasoning(message: Members, name: string): Reasoning[] {
  const { reasoning_content: content, reasoning = null, reasoning_details: details } = message;
  const text = content ?? reasoning ?? '';
  if (typeof text !== 'string') throw invalid(`${name}.reasoning_content`, 'must be a string.');
  if (details === undefined || details === null) return text === '' ? [] : [{ text, format: 'chat' }];
  if (!Array.isArray(details)) throw invalid(`${name}.reasoning_details`, 'must be a list.');
  return details.map((item: unknown, index) => {
    if (!isRecord(item)) throw invalid(`${name}.reasoning_details[${String(index)}]`, 'must be an object.');
    const sealed = openReasoning(item['data']) ?? { item, format: 'chat' as const };
    return { ...sealed, text: index === 0 ? text : '' };
  });
}
