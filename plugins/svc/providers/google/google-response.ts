import { randomUUID } from 'node:crypto';
import { asRecord, isRecord } from '#plugin-api';
import type { ToolCall } from '../../kit/tools.ts';
import { cleanMessage } from '../../kit/clean-message.ts';
import { emptyText, failedText, refusedRequest, unreadableResponse } from '../provider-errors.ts';
import { errorInside } from '../streams/read-events.ts';
import { tokenDetails, type TokenDetails } from '../../kit/token-details.ts';
import { argumentsText, countAt, listAt, objectAt, textAt, usageIn, usageOf, type JsonObject } from '../json.ts';
import { modelInfo } from '../model-kinds.ts';
import type { ModelInfo, ProviderConnection, ReportedUsage, RequestedText, TextResult, Usage } from '../provider.ts';

const blocking = new Set([
  'SAFETY',
  'RECITATION',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'LANGUAGE',
  'IMAGE_SAFETY',
  'OTHER',
  'MODEL_ARMOR',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
  'IMAGE_OTHER',
  'NO_IMAGE',
]);

/**
 * Reads a generateContent response: the text of the first candidate without thoughts, and the functions it calls.
 *
 * @throws ProviderError `rejected` for a blocked prompt, `unavailable` for a text that ended for another reason,
 * `unreadable` for another format and for an empty response. An error in a 200 is mapped by its own code.
 */
export function googleResponse(
  body: unknown,
  request: RequestedText,
  connection: ProviderConnection,
): Omit<TextResult, 'ignored'> {
  if (isRecord(body) && Boolean(body['error'])) throw errorInside(body, connection);
  const feedback = objectAt(body, 'promptFeedback');
  const blockReason = textAt(feedback, 'blockReason');
  const candidate = listAt(body, 'candidates')[0];
  if (candidate === undefined && blockReason !== null) {
    const blocked = {
      what: 'the prompt was blocked',
      reason: blockReason,
      own: textAt(feedback, 'blockReasonMessage'),
    };
    throw refusedRequest(blockingSentence(blocked, connection), 'content_filter');
  }
  if (!isRecord(candidate)) throw unreadableResponse('no candidates in it');
  const [content, thoughts] = [partsText(candidate), partsText(candidate, true)];
  const toolCalls = googleToolCalls(candidate);
  const isEmpty = content === '' && toolCalls.length === 0;
  const reason = textAt(candidate, 'finishReason');
  const isFiltered = reason !== null && blocking.has(reason);
  if (reason !== null && reason !== 'STOP' && reason !== 'MAX_TOKENS' && !isFiltered)
    throw failedText(`${reason}${finishMessage(candidate, connection)}`);
  const withheld = { what: 'the response was withheld', reason: reason ?? '', own: textAt(candidate, 'finishMessage') };
  if (isEmpty && !isFiltered && reason !== 'MAX_TOKENS' && request.params?.stop === undefined) throw emptyText(reason);
  return {
    content,
    ...googleReport(body),
    model: textAt(body, 'modelVersion') ?? request.model,
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(reason === 'MAX_TOKENS' && { finish: 'length' as const }),
    ...(isFiltered && { finish: 'content_filter' as const }),
    ...(isFiltered && isEmpty && { refusal: blockingSentence(withheld, connection) }),
    ...(thoughts !== '' && { reasoning: [{ text: thoughts }] }),
  };
}

/** Google's own sentence about the end of a text. */
function finishMessage(candidate: JsonObject, { settings }: ProviderConnection): string {
  const own = textAt(candidate, 'finishMessage');
  return own === null ? '' : `: ${cleanMessage(own, settings).replace(/\.$/, '')}`;
}

/** Google may send no id; a client needs one to name the result. */
function googleToolCalls(candidate: JsonObject): ToolCall[] {
  return functionCallParts(candidate).map((part) => {
    const call = objectAt(part, 'functionCall');
    const name = textAt(call, 'name');
    if (name === null) throw unreadableResponse('a function call without a name in it');
    const signature = textAt(part, 'thoughtSignature');
    return {
      id: textAt(call, 'id') ?? `call_${randomUUID()}`,
      name,
      arguments: argumentsText(call['args']),
      ...(signature !== null && { signature }),
    };
  });
}

/** The parts of a candidate that call functions. */
export function functionCallParts(candidate: JsonObject): readonly unknown[] {
  return listAt(objectAt(candidate, 'content'), 'parts').filter(
    (part) => isRecord(part) && isRecord(part['functionCall']),
  );
}

/** The text of a candidate without thoughts, or these alone. */
export function partsText(candidate: JsonObject, isThought = false): string {
  return listAt(objectAt(candidate, 'content'), 'parts')
    .map((part) =>
      isRecord(part) && (part['thought'] === true) === isThought && typeof part['text'] === 'string'
        ? part['text']
        : '',
    )
    .join('');
}

interface Blocking {
  readonly what: string;
  /** Google's code for it. */
  readonly reason: string;
  /** Google's message. */
  readonly own: string | null;
}

function blockingSentence({ what, reason, own }: Blocking, { settings }: ProviderConnection): string {
  return own === null ? `${what} (${reason}).` : `${what} (${reason}): ${cleanMessage(own, settings)}`;
}

/** All that a response reports of its usage. The first pieces of a stream have no count of the text. */
export function googleReport(body: unknown): ReportedUsage {
  const metadata = asRecord(usageIn(body, 'usageMetadata'));
  const details = googleTokenDetails(metadata);
  const isPartial = countAt(metadata, 'candidatesTokenCount') === null;
  return { usage: googleUsage(metadata), ...(isPartial && { isPartial }), ...(details && { tokenDetails: details }) };
}

/** Thinking is billed as output, what tools read as input; both are counted as such. */
export function googleUsage(usage: Readonly<Record<string, unknown>>): Usage | null {
  const sum = (...names: readonly string[]): number | null => {
    const counts = names.map((name) => countAt(usage, name)).filter((count) => count !== null);
    return counts.length === 0 ? null : counts.reduce((total, count) => total + count);
  };
  return usageOf({
    input: sum('promptTokenCount', 'toolUsePromptTokenCount'),
    output: sum('candidatesTokenCount', 'thoughtsTokenCount'),
    total: countAt(usage, 'totalTokenCount'),
  });
}

/** Tokens by modality, thinking and the cache (D32). What the cache held costs the price of the cache, whatever its modality. */
export function googleTokenDetails(usage: Readonly<Record<string, unknown>>): TokenDetails | undefined {
  const modality = (member: string, name: string): number =>
    listAt(usage, member)
      .filter((entry) => textAt(entry, 'modality') === name)
      .reduce<number>((sum, entry) => sum + (countAt(entry, 'tokenCount') ?? 0), 0);
  const uncached = (name: string): number =>
    modality('promptTokensDetails', name) - modality('cacheTokensDetails', name);
  return tokenDetails(googleUsage(usage), {
    cached_input: countAt(usage, 'cachedContentTokenCount'),
    image_input: uncached('IMAGE'),
    audio_input: uncached('AUDIO'),
    reasoning: countAt(usage, 'thoughtsTokenCount'),
    image_output: modality('candidatesTokensDetails', 'IMAGE'),
    audio_output: modality('candidatesTokensDetails', 'AUDIO'),
  });
}

/** A listed model for text, images, videos or embeddings; null for others (speech, grounded answers). */
export function googleModel(entry: unknown): ModelInfo | null {
  const id = textAt(entry, 'name')?.replace(/^models\//, '');
  const label = textAt(entry, 'displayName');
  if (id === undefined) return null;
  const model = modelInfo({ supportedActions: listAt(entry, 'supportedActions') }, id, label);
  return model.kinds === undefined || listAt(entry, 'supportedActions').length === 0 ? null : model;
}
