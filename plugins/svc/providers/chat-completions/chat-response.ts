import { cleanMessage } from '../../kit/clean-message.ts';
import { errorFromResponse, unreadableResponse } from '../provider-errors.ts';
import { countAt, isObject, listAt, objectAt, textAt, type JsonObject } from '../json.ts';
import { modelInfo } from '../model-kinds.ts';
import { ProviderError, type ModelInfo, type ProviderConnection, type TextResult, type Usage } from '../provider.ts';
import { stripReasoning } from './strip-reasoning.ts';

/**
 * Reads a chat completion. Reasoning is left out, be it in a member of its own or in a leading `<think>` block.
 *
 * @throws ProviderError `rejected` for a refusal or an answer that a filter or the length limit left empty,
 * `unreadable` for another shape. OpenRouter's errors inside a 200 are mapped like any answer of their status.
 */
export function chatResponse(
  body: JsonObject,
  asked: { readonly model: string },
  connection: ProviderConnection,
): Omit<TextResult, 'ignored'> {
  const choice = listAt(body, 'choices')[0];
  throwErrorInside(body, connection, choice);
  const message = objectAt(choice, 'message');
  if (!('content' in message) && !('refusal' in message))
    throw unreadableResponse('no choices[0].message.content in it');
  const content = stripReasoning(contentText(message['content']));
  const refusal = textAt(message, 'refusal');
  if (content === '' && refusal !== null) throw refused(cleanMessage(refusal, connection.settings));
  if (content === '') throwIfEmptyFor(textAt(choice, 'finish_reason'));
  return { content, usage: chatUsage(body['usage']), model: textAt(body, 'model') ?? asked.model };
}

/** `{"error": {"code": 429, "message": ...}}` in the body, or in the choice, of an answer with status 200. */
export function throwErrorInside(
  body: JsonObject,
  connection: Pick<ProviderConnection, 'settings' | 'clock'>,
  choice?: unknown,
): void {
  const holder = [body, choice].find(
    (candidate): candidate is JsonObject => isObject(candidate) && isObject(candidate['error']),
  );
  if (holder === undefined) return;
  const code = Number(objectAt(holder, 'error')['code']);
  const status = Number.isInteger(code) && code >= 400 && code < 600 ? code : 502;
  throw errorFromResponse({ status, headers: new Headers(), body: holder }, connection);
}

/** The text of a message or of a piece of one, reasoning left in. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => objectAt({ part }, 'part')['text'] ?? '').join('');
}

function throwIfEmptyFor(reason: string | null): void {
  if (reason === 'content_filter') throw refused('its content filter left nothing of the answer (content_filter).');
  if (reason === 'length')
    throw refused('the length limit was used up before any text was written (length); raise max_completion_tokens.');
}

function refused(message: string): ProviderError {
  return new ProviderError({ kind: 'rejected', status: 200, message });
}

/** xAI counts reasoning in the total alone; it is paid for as output, and counted as such. */
export function chatUsage(usage: unknown): Usage | null {
  const input = countAt(usage, 'prompt_tokens');
  const written = countAt(usage, 'completion_tokens');
  if (input === null || written === null) return null;
  const output = Math.max(written, (countAt(usage, 'total_tokens') ?? 0) - input);
  return { input_tokens: input, output_tokens: output, total_tokens: input + output };
}

/** Models of `GET /models`, in the order of their names. */
export function chatModels(body: JsonObject): ModelInfo[] {
  if (!Array.isArray(body['data'])) throw unreadableResponse('no list of models in it');
  return body['data']
    .flatMap((entry: unknown) => {
      const id = textAt(entry, 'id');
      return id === null ? [] : [modelInfo(entry, id, textAt(entry, 'name'))];
    })
    .sort((left, right) => left.id.localeCompare(right.id));
}
