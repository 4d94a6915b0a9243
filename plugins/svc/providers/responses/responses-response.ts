import { randomUUID } from 'node:crypto';
import { cleanMessage } from '../../kit/clean-message.ts';
import type { Reasoning } from '../../kit/reasoning.ts';
import { tokenDetails, type TokenDetails } from '../../kit/token-details.ts';
import type { ToolCall } from '../../kit/tools.ts';
import { chatReport, throwErrorInside } from '../chat-completions/chat-response.ts';
import { argumentsText, countAt, listAt, objectAt, textAt, usageOf, type JsonObject } from '../json.ts';
import type { ProviderConnection, ReportedUsage, RequestedText, TextResult, Usage } from '../provider.ts';
import { emptyText, failedText, unreadableResponse } from '../provider-errors.ts';

/** How incomplete responses end, by the reason of `incomplete_details`. */
const endings: Readonly<Record<string, 'length' | 'content_filter'>> = {
  max_output_tokens: 'length',
  max_tokens: 'length',
  content_filter: 'content_filter',
};

/**
 * Reads a response: texts, refusals, calls of functions and reasoning. Items of tools that the vendor runs are passed over.
 *
 * @throws ProviderError `unavailable` for a response that the upstream ended for another reason, `unreadable` for another format
 * and for an empty response. A failed one is mapped by the code of its error.
 */
export function responsesResponse(
  body: JsonObject,
  request: RequestedText,
  connection: ProviderConnection,
): Omit<TextResult, 'ignored'> {
  throwErrorInside(body, connection);
  if (!Array.isArray(body['output'])) throw unreadableResponse('no output in it');
  const ending = endingOf(body, connection);
  const items = listAt(body, 'output');
  const parts = items.filter((item) => textAt(item, 'type') === 'message').flatMap((item) => listAt(item, 'content'));
  const content = joined(parts, 'output_text', 'text');
  const refusal = joined(parts, 'refusal', 'refusal');
  const toolCalls = items.filter((item) => textAt(item, 'type') === 'function_call').map(toolCall);
  const reasoning = items.filter((item) => textAt(item, 'type') === 'reasoning').map(reasoningOf);
  if (ending === 'complete' && content === '' && refusal === '' && items.every(isPlain)) throw emptyText('completed');
  // A part of a text that ends with a refusal is not complete.
  const finish = refusal === '' ? ending : content === '' ? 'complete' : 'content_filter';
  return {
    content,
    ...responsesReport(body['usage']),
    model: textAt(body, 'model') ?? request.model,
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(finish !== 'complete' && { finish }),
    ...(refusal !== '' && { refusal: cleanMessage(refusal, connection.settings) }),
    ...(reasoning.length > 0 && { reasoning }),
    ...(request.native && { native: body }),
  };
}

/** Nothing comes after a response that is queued or in progress: it is generated in the background, out of reach. */
function endingOf(body: JsonObject, { settings }: ProviderConnection): 'complete' | 'length' | 'content_filter' {
  const status = textAt(body, 'status') ?? 'completed';
  if (status === 'completed') return 'complete';
  const reason = textAt(objectAt(body, 'incomplete_details'), 'reason');
  const ending = status === 'incomplete' && reason !== null && Object.hasOwn(endings, reason) && endings[reason];
  if (ending) return ending;
  throw failedText(`status ${cleanMessage(reason === null ? status : `${status}, ${reason}`, settings)}`);
}

function joined(parts: readonly unknown[], type: string, member: string): string {
  return parts
    .filter((part) => textAt(part, 'type') === type)
    .map((part) => objectAt({ part }, 'part')[member])
    .filter((text) => typeof text === 'string')
    .join('');
}

function isPlain(item: unknown): boolean {
  const type = textAt(item, 'type');
  return type === 'message' || type === 'reasoning';
}

function toolCall(item: unknown): ToolCall {
  const called = objectAt({ item }, 'item');
  const name = textAt(called, 'name');
  if (name === null) throw unreadableResponse('a tool call without a name in it');
  const id = textAt(called, 'call_id') ?? textAt(called, 'id') ?? `call_${randomUUID()}`;
  return { id, name, arguments: argumentsText(called['arguments']) };
}

/** The summary, else the reasoning itself, which servers of open models return. */
export function reasoningOf(given: unknown): Reasoning {
  const item = objectAt({ given }, 'given');
  const summary = listAt(item, 'summary').map((part) => textAt(part, 'text') ?? '');
  const text = summary.length > 0 ? summary.join('\n\n') : joined(listAt(item, 'content'), 'reasoning_text', 'text');
  return { text, item, format: 'responses' };
}

/** All that a response reports of its usage. */
export function responsesReport(usage: unknown): ReportedUsage {
  const details = responsesTokenDetails(usage);
  const { reportedCost } = chatReport(usage);
  return {
    usage: responsesUsage(usage),
    ...(details && { tokenDetails: details }),
    ...(reportedCost !== undefined && { reportedCost }),
  };
}

function responsesUsage(usage: unknown): Usage | null {
  return usageOf({
    input: countAt(usage, 'input_tokens'),
    output: countAt(usage, 'output_tokens'),
    total: countAt(usage, 'total_tokens'),
  });
}

function responsesTokenDetails(usage: unknown): TokenDetails | undefined {
  const total = responsesUsage(usage);
  if (total === null) return undefined;
  const [input, output] = [objectAt(usage, 'input_tokens_details'), objectAt(usage, 'output_tokens_details')];
  const beyondText = total.output_tokens - (countAt(usage, 'output_tokens') ?? total.output_tokens);
  return tokenDetails(total, {
    cached_input: countAt(input, 'cached_tokens'),
    cache_write: countAt(input, 'cache_write_tokens'),
    image_input: countAt(input, 'image_tokens'),
    audio_input: countAt(input, 'audio_tokens'),
    reasoning: Math.max(countAt(output, 'reasoning_tokens') ?? 0, beyondText),
    image_output: countAt(output, 'image_tokens'),
    audio_output: countAt(output, 'audio_tokens'),
  });
}
