import { randomUUID } from 'node:crypto';
import { isRecord } from '#plugin-api';
import type { Reasoning } from '../../kit/reasoning.ts';
import type { ToolCall } from '../../kit/tools.ts';
import { cleanMessage } from '../../kit/clean-message.ts';
import { emptyText, failedText, unreadableResponse } from '../provider-errors.ts';
import { errorInside } from '../streams/read-events.ts';
import { tokenDetails, type TokenDetails } from '../../kit/token-details.ts';
import { argumentsText, countAt, listAt, objectAt, textAt, usageOf, type JsonObject } from '../json.ts';
import type { ModelInfo, ProviderConnection, ReportedUsage, RequestedText, TextResult, Usage } from '../provider.ts';

/**
 * Reads a message: the text blocks, the tool calls, and apart what it thought. Nothing of the answer to a native request is judged.
 *
 * @throws ProviderError `unavailable` for a text that ended for another reason, `unreadable` for
 * another format and for an empty response. An error in a 200 is mapped by its own type.
 */
export function claudeResponse(
  body: JsonObject,
  request: RequestedText,
  connection: ProviderConnection,
): Omit<TextResult, 'ignored'> {
  if (Boolean(body['error'])) throw errorInside(body, connection);
  if (!Array.isArray(body['content'])) throw unreadableResponse('no list "content" in it');
  const toolCalls = claudeToolCalls(body['content']);
  const content = body['content']
    .map((block: unknown) => (textAt(block, 'type') === 'text' ? (objectAt({ block }, 'block')['text'] ?? '') : ''))
    .join('');
  const reason = textAt(body, 'stop_reason');
  const model = textAt(body, 'model') ?? request.model;
  const isNative = request.native !== undefined;
  const reasoning = claudeReasoning(body['content']);
  const own = { ...(reasoning.length > 0 && { reasoning }), ...(isNative && { native: body }) };
  // What was written before it is not part of a response.
  if (reason === 'refusal')
    return {
      content: '',
      ...claudeReport(body['usage']),
      model,
      refusal: refusalSentence(body, content, connection),
      ...own,
    };
  const isCut = reason === 'max_tokens' || reason === 'model_context_window_exceeded';
  if (reason !== null && !isCut && !isNative && !endings.includes(reason))
    throw failedText(`stop_reason ${cleanMessage(reason, connection.settings)}`);
  if (content === '' && toolCalls.length === 0 && !isCut && !isNative && reason !== 'stop_sequence')
    throw emptyText(reason);
  return {
    content,
    ...claudeReport(body['usage']),
    model,
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(isCut && { finish: 'length' as const }),
    ...own,
  };
}

/** `pause_turn`: a long turn of the vendor's own tools, whose text so far is one. */
const endings: readonly string[] = ['end_turn', 'stop_sequence', 'tool_use', 'pause_turn'];

/** Blocks of thinking, which the next request must repeat with their signatures. */
function claudeReasoning(blocks: readonly unknown[]): Reasoning[] {
  return blocks
    .filter(isRecord)
    .filter(({ type }) => type === 'thinking' || type === 'redacted_thinking')
    .map((item) => ({ text: textAt(item, 'thinking') ?? '', item, format: 'messages' }));
}

function claudeToolCalls(blocks: readonly unknown[]): ToolCall[] {
  return blocks
    .filter((block) => textAt(block, 'type') === 'tool_use')
    .map((block) => {
      const name = textAt(block, 'name');
      if (name === null) throw unreadableResponse('a tool call without a name in it');
      return {
        id: textAt(block, 'id') ?? `toolu_${randomUUID()}`,
        name,
        arguments: argumentsText(objectAt({ block }, 'block')['input']),
      };
    });
}

function refusalSentence(body: JsonObject, content: string, { settings }: ProviderConnection): string {
  const own = textAt(objectAt(body, 'stop_details'), 'explanation') ?? content.trim();
  return own === '' ? 'the model declined to answer (refusal).' : cleanMessage(own, settings);
}

/** All that a message reports of its usage. */
export function claudeReport(usage: unknown): ReportedUsage {
  const details = claudeTokenDetails(usage);
  return { usage: claudeUsage(usage), ...(details && { tokenDetails: details }) };
}

/** Counts input from and to the prompt cache as input. */
function claudeUsage(usage: unknown): Usage | null {
  const input = countAt(usage, 'input_tokens');
  const cached =
    (countAt(usage, 'cache_creation_input_tokens') ?? 0) + (countAt(usage, 'cache_read_input_tokens') ?? 0);
  return usageOf({
    input: input === null && cached === 0 ? null : (input ?? 0) + cached,
    output: countAt(usage, 'output_tokens'),
    total: null,
  });
}

/** Cache writes for five minutes and for an hour have prices of their own; thinking is part of the output (D32). */
function claudeTokenDetails(usage: unknown): TokenDetails | undefined {
  const written = countAt(usage, 'cache_creation_input_tokens') ?? 0;
  const forAnHour = Math.min(written, countAt(objectAt(usage, 'cache_creation'), 'ephemeral_1h_input_tokens') ?? 0);
  return tokenDetails(claudeUsage(usage), {
    cached_input: countAt(usage, 'cache_read_input_tokens'),
    cache_write: written - forAnHour,
    cache_write_1h: forAnHour,
    reasoning: countAt(objectAt(usage, 'output_tokens_details'), 'thinking_tokens'),
  });
}

/** Models of `GET /v1/models`, newest first as listed. */
export function claudeModels(body: JsonObject): ModelInfo[] {
  if (!Array.isArray(body['data'])) throw unreadableResponse('no list of models in it');
  return listAt(body, 'data')
    .map((entry) => ({ id: textAt(entry, 'id'), label: textAt(entry, 'display_name') }))
    .filter((entry): entry is { id: string; label: string | null } => entry.id !== null)
    .map(({ id, label }) => ({ id, ...(label !== null && { label }), kinds: ['text'] as const }));
}
