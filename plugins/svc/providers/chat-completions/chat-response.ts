import { randomUUID } from 'node:crypto';
import { asRecord, isRecord } from '#plugin-api';
import type { Reasoning } from '../../kit/reasoning.ts';
import type { ToolCall } from '../../kit/tools.ts';
import { cleanMessage } from '../../kit/clean-message.ts';
import { emptyText, failedText, unreadableResponse } from '../provider-errors.ts';
import { errorInside } from '../streams/read-events.ts';
import { argumentsText, countAt, listAt, objectAt, textAt, usageOf, type JsonObject } from '../json.ts';
import { modelInfo } from '../model-kinds.ts';
import type { ModelInfo, ProviderConnection, ReportedUsage, RequestedText, TextResult, Usage } from '../provider.ts';
import { tokenDetails, type TokenDetails } from '../../kit/token-details.ts';
import { stripReasoning, thinksInText } from './strip-reasoning.ts';

/** How texts end, by `finish_reason` of OpenAI and of servers with its API, in lower case. */
const endings: Readonly<Record<string, 'complete' | 'length' | 'content_filter'>> = {
  ...{ stop: 'complete', tool_calls: 'complete', function_call: 'complete' },
  ...{ eos: 'complete', eos_token: 'complete', stop_sequence: 'complete', end_turn: 'complete', tool_use: 'complete' },
  ...{ length: 'length', max_tokens: 'length', model_length: 'length' },
  ...{ content_filter: 'content_filter', safety: 'content_filter' },
};

/**
 * Reads a chat completion without its reasoning, which is a separate member or a part of the text (`strip-reasoning.ts`).
 *
 * @throws ProviderError `unavailable` for a text that the upstream
 * ended for another reason, `unreadable` for another format and for an empty response. OpenRouter's errors in a 200 are mapped
 * by their own status.
 */
export function chatResponse(
  body: JsonObject,
  request: RequestedText,
  connection: ProviderConnection,
): Omit<TextResult, 'ignored'> {
  const choice = listAt(body, 'choices')[0];
  throwErrorInside(body, connection, choice);
  const message = objectAt(choice, 'message');
  const toolCalls = chatToolCalls(message);
  if (!('content' in message) && !('refusal' in message) && toolCalls.length === 0)
    throw unreadableResponse('no choices[0].message.content in it');
  const content = stripReasoning(contentText(message['content']), thinksInText(request.model, connection.settings));
  const refusal = textAt(message, 'refusal');
  const reason = textAt(choice, 'finish_reason');
  const ending = reason === null ? 'complete' : endings[reason.toLowerCase()];
  if (ending === undefined) throw failedText(`finish_reason ${cleanMessage(String(reason), connection.settings)}`);
  if (content === '' && refusal === null && toolCalls.length === 0) refuseEmpty(ending, { reason, request });
  // A part of a text that ends with a refusal is not complete.
  const finish = refusal === null ? ending : content === '' ? 'complete' : 'content_filter';
  return {
    content,
    ...chatReport(body['usage']),
    model: textAt(body, 'model') ?? request.model,
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(finish !== 'complete' && { finish }),
    ...(refusal !== null && { refusal: cleanMessage(refusal, connection.settings) }),
    ...membersBeside(message),
  };
}

/** What the message has beside its text: what the model thought, and its sources. */
function membersBeside(message: JsonObject): Pick<TextResult, 'reasoning' | 'annotations'> {
  const reasoning = chatReasoning(message);
  const annotations = listAt(message, 'annotations').filter(isRecord);
  return { ...(reasoning.length > 0 && { reasoning }), ...(annotations.length > 0 && { annotations }) };
}

/** What the model thought: as a text, or (OpenRouter) as details, some of which only the vendor of the model reads. */
export function chatReasoning(message: JsonObject): Reasoning[] {
  const text = reasoningText(message);
  const details = listAt(message, 'reasoning_details').filter(isRecord);
  if (details.length === 0) return text === '' ? [] : [{ text, format: 'chat' }];
  return details.map((item, index) => ({ text: index === 0 ? text : '', item, format: 'chat' }));
}

/** The reasoning of a message or a piece as a text; empty without any. */
export function reasoningText(message: JsonObject): string {
  const { reasoning_content: content, reasoning } = message;
  if (typeof content === 'string' && content !== '') return content;
  return typeof reasoning === 'string' ? reasoning : '';
}

/** A text may be empty at a stop sequence; at the length limit, and where a filter withheld it, the caller decides. */
function refuseEmpty(
  ending: (typeof endings)[string],
  { reason, request }: { readonly reason: string | null; readonly request: RequestedText },
): void {
  if (ending === 'complete' && request.params?.stop === undefined) throw emptyText(reason);
}

/** Also `function_call`, the member that came before `tool_calls`. */
function chatToolCalls(message: JsonObject): ToolCall[] {
  const old = message['function_call'];
  const single = isRecord(old) ? [{ function: old }] : [];
  const calls = listAt(message, 'tool_calls');
  return (calls.length > 0 ? calls : single).map((call) => {
    const called = objectAt(call, 'function');
    const name = textAt(called, 'name');
    if (name === null) throw unreadableResponse('a tool call without a name in it');
    // Some servers send no id; a client needs one to name the result.
    return { id: textAt(call, 'id') ?? `call_${randomUUID()}`, name, arguments: argumentsText(called['arguments']) };
  });
}

/** `{"error": {"code": 429, "message": ...}}` in the body or choice of a response with status 200. */
export function throwErrorInside(
  body: JsonObject,
  connection: Pick<ProviderConnection, 'settings' | 'clock'>,
  choice?: unknown,
): void {
  const holder = [body, choice].find(
    (candidate): candidate is JsonObject => isRecord(candidate) && isError(candidate['error']),
  );
  if (holder !== undefined) throw errorInside(holder, connection);
}

/** An object, or the message alone. */
function isError(value: unknown): boolean {
  return isRecord(value) || (typeof value === 'string' && value.trim() !== '');
}

/** The text of a message or a piece, including reasoning. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => objectAt({ part }, 'part')['text'] ?? '').join('');
}

/** All that a response reports of its usage. */
export function chatReport(usage: unknown): ReportedUsage {
  const details = chatTokenDetails(usage);
  const reportedCost = chatCost(usage);
  return {
    usage: chatUsage(usage),
    ...(details && { tokenDetails: details }),
    ...(reportedCost !== undefined && { reportedCost }),
  };
}

/** OpenRouter's `cost` in dollars; with a key of one's own for its provider, what that one bills is beside it. */
function chatCost(usage: unknown): number | undefined {
  const { cost, is_byok: isOwnKey } = asRecord(usage);
  if (!isAmount(cost)) return undefined;
  const upstream = objectAt(usage, 'cost_details')['upstream_inference_cost'];
  return (cost + (isOwnKey === true && isAmount(upstream) ? upstream : 0)) * 1_000_000;
}

/** Dollars that one call can cost: what is beyond is a mistake of the server, and would use up every budget. */
const isAmount = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= 10_000;

/** xAI includes reasoning only in the total. It is billed as output, and counted as such. */
export function chatUsage(usage: unknown): Usage | null {
  return usageOf({
    input: countAt(usage, 'prompt_tokens'),
    output: countAt(usage, 'completion_tokens'),
    total: countAt(usage, 'total_tokens'),
  });
}

/**
 * The kinds of tokens as the providers report them (D32): DeepSeek reports cached input beside the details, xAI reasoning in
 * the details or only in the total.
 */
export function chatTokenDetails(usage: unknown): TokenDetails | undefined {
  const total = chatUsage(usage);
  if (total === null) return undefined;
  const [input, output] = [objectAt(usage, 'prompt_tokens_details'), objectAt(usage, 'completion_tokens_details')];
  const beyondText = total.output_tokens - (countAt(usage, 'completion_tokens') ?? total.output_tokens);
  return tokenDetails(total, {
    cached_input: countAt(input, 'cached_tokens') ?? countAt(usage, 'prompt_cache_hit_tokens'),
    cache_write: countAt(input, 'cache_write_tokens'),
    image_input: countAt(input, 'image_tokens'),
    audio_input: countAt(input, 'audio_tokens'),
    reasoning: Math.max(countAt(output, 'reasoning_tokens') ?? 0, beyondText),
    image_output: countAt(output, 'image_tokens'),
    audio_output: countAt(output, 'audio_tokens'),
  });
}

/** Models of `GET /models`, sorted by id. */
export function chatModels(body: JsonObject): ModelInfo[] {
  if (!Array.isArray(body['data'])) throw unreadableResponse('no list of models in it');
  return body['data']
    .flatMap((entry: unknown) => {
      const id = textAt(entry, 'id');
      return id === null ? [] : [modelInfo(entry, id, textAt(entry, 'name'))];
    })
    .sort((left, right) => left.id.localeCompare(right.id));
}
