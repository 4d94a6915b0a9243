import { countAt, listAt, objectAt, textAt, type JsonObject } from '../json.ts';
import { errorFromStream, parseEvent, type OpenTextStream } from '../streams/read-events.ts';
import { chatResponse, chatUsage, contentText } from './chat-response.ts';
import { createReasoningFilter } from './strip-reasoning.ts';

/**
 * Reads the chunks of a chat completion. A stream ends with `[DONE]`; without it, a `finish_reason` marks it complete. Usage
 * comes in the last chunk, in a separate one, or (xAI) grows with each chunk.
 */
export const createChatStream: OpenTextStream = (request, connection, onText) => {
  const reasoning = createReasoningFilter();
  const state = {
    content: '',
    refusal: '',
    reason: null as string | null,
    usage: undefined as unknown,
    model: null as string | null,
    /** By their index. */
    toolCalls: new Map<number, { id: unknown; name: string; arguments: string }>(),
  };
  let wholeBody: JsonObject | null = null;
  let hasChoice = false;

  const show = (piece: string): void => {
    state.content += piece;
    if (piece !== '') onText(piece);
  };
  const takeChunk = (chunk: JsonObject): void => {
    const choice = listAt(chunk, 'choices')[0];
    const failed = [chunk, choice].find((holder) => Boolean((holder as JsonObject | undefined)?.['error']));
    if (failed !== undefined) throw errorFromStream(failed, connection);
    state.model = textAt(chunk, 'model') ?? state.model;
    if (chatUsage(chunk['usage']) !== null) state.usage = chunk['usage'];
    if (choice === undefined) return;
    hasChoice = true;
    const delta = objectAt(choice, 'delta');
    state.refusal += textOf(delta['refusal']);
    state.reason = textAt(choice, 'finish_reason') ?? state.reason;
    show(reasoning.push(contentText(delta['content'])));
    for (const piece of listAt(delta, 'tool_calls')) takeToolCall(piece);
  };
  const takeToolCall = (piece: unknown): void => {
    const index = countAt(piece, 'index') ?? state.toolCalls.size;
    const call = state.toolCalls.get(index) ?? { id: undefined, name: '', arguments: '' };
    const called = objectAt(piece, 'function');
    call.id = textAt(piece, 'id') ?? call.id;
    call.name += textOf(called['name']);
    call.arguments += textOf(called['arguments']);
    state.toolCalls.set(index, call);
  };

  return {
    take({ data }) {
      if (data.startsWith('[DONE]')) return true;
      takeChunk(parseEvent(data));
      return false;
    },
    whole(body) {
      wholeBody = body;
    },
    isComplete: () => state.reason !== null,
    result() {
      if (wholeBody !== null) {
        const whole = chatResponse(wholeBody, request, connection);
        if (whole.content !== '') onText(whole.content);
        return whole;
      }
      show(reasoning.end());
      const { content, refusal, reason: finish_reason, usage, model } = state;
      const tool_calls = [...state.toolCalls.values()].map(({ id, ...called }) => ({ id, function: called }));
      const choices = hasChoice ? [{ message: { content, refusal, tool_calls }, finish_reason }] : [];
      // Text after the removed reasoning may look like reasoning; do not strip it twice.
      return { ...chatResponse({ choices, usage, model }, request, connection), ...(hasChoice && { content }) };
    },
  };
};

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
