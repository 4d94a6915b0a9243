import { asRecord, isRecord } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import { sealReasoning, type Reasoning } from '../../../kit/reasoning.ts';
import type { ToolCall } from '../../../kit/tools.ts';
import { anthropicName } from '../param-names.ts';
import type { MessageResult } from './given-message.ts';

export type Block = Readonly<Record<string, unknown>>;

/** The members of a message besides its id and model. */
export function writeMessage(result: MessageResult): Readonly<Record<string, unknown>> {
  const { native = {}, reasoning = [], content } = result;
  return {
    ...native,
    type: 'message',
    role: 'assistant',
    content: Array.isArray(native['content'])
      ? native['content']
      : [...reasoning.flatMap(thinkingBlock), ...(content === '' ? [] : [textBlock(content)]), ...lastBlocks(result)],
    ...writeEnding(result),
    usage: writeUsage(result),
  };
}

/** What comes after the text: calls of tools, and a refusal, which Claude says in `stop_details`. */
export function lastBlocks(result: MessageResult): Block[] {
  const { refusal = '', toolCalls = [], native } = result;
  return [
    ...(refusal === '' || native !== undefined ? [] : [textBlock(refusal)]),
    ...toolCalls.flatMap((call) => toolUse(call, result)),
  ];
}

export const textBlock = (text: string): Block => ({ type: 'text', text });

/** Thinking of other vendors is sealed, to be sent back unchanged (D40). */
export function thinkingBlock(piece: Reasoning): Block[] {
  const { text, item, format } = piece;
  if (item !== undefined && format === 'messages') return [item];
  const sealed = sealReasoning(piece);
  if (text !== '') return [{ type: 'thinking', thinking: text, signature: sealed }];
  return sealed === '' ? [] : [{ type: 'redacted_thinking', data: sealed }];
}

/**
 * A call with its input as an object. A cut one is left out: the message says that it ended at its length limit.
 *
 * @throws RestError 502 `rest_svc_provider_error` for arguments that are no object
 */
function toolUse({ id, name, arguments: json }: ToolCall, { finish, provider, providerId }: MessageResult): Block[] {
  const input = parseInput(json);
  if (input !== null) return [{ type: 'tool_use', id, name, input }];
  if (finish === 'length') return [];
  throw errors.provider_error({
    values: { provider, reason: `the arguments of its call of ${name} are not a JSON object.` },
    data: { provider: providerId, provider_status: 200 },
  });
}

function parseInput(json: string): Block | null {
  try {
    const input: unknown = JSON.parse(json.trim() === '' ? '{}' : json);
    return isRecord(input) ? input : null;
  } catch {
    return null;
  }
}

/** Why it ended, and what the vendor says of that. */
export function writeEnding(result: MessageResult): Readonly<Record<string, unknown>> {
  const {
    stop_reason: reason,
    stop_sequence: sequence = null,
    stop_details: details,
    container,
  } = asRecord(result.native);
  return {
    stop_reason: typeof reason === 'string' ? reason : stopReason(result),
    stop_sequence: sequence,
    ...(details !== undefined && { stop_details: details }),
    ...(container !== undefined && { container }),
  };
}

function stopReason({ finish, refusal, toolCalls = [] }: MessageResult): string {
  if (refusal !== undefined || finish === 'content_filter') return 'refusal';
  if (finish === 'length') return 'max_tokens';
  return toolCalls.length > 0 ? 'tool_use' : 'end_turn';
}

/** Input without what the cache was asked for and wrote, as Anthropic counts. */
export function writeUsage({ usage, tokenDetails = {}, native }: MessageResult): Readonly<Record<string, unknown>> {
  const { cached_input: read = 0, cache_write = 0, cache_write_1h = 0, reasoning } = tokenDetails;
  const written = cache_write + cache_write_1h;
  return {
    ...asRecord(asRecord(native)['usage']),
    input_tokens: Math.max(0, usage.input_tokens - read - written),
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
    output_tokens: usage.output_tokens,
    ...(reasoning !== undefined && { output_tokens_details: { thinking_tokens: reasoning } }),
  };
}

/** Who wrote it, which another provider may have done (failover), and what was left out: a stream has sent its headers. */
export function writeSource({ providerId, model, ignored }: MessageResult): object {
  return { provider: providerId, model, ...(ignored.length > 0 && { ignored_params: ignored.map(anthropicName) }) };
}
