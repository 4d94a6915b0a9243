import { isRecord } from '#plugin-api';
import { laterUsage, listAt, objectAt, textAt, usageIn, type JsonObject } from '../json.ts';
import { errorInside, parseEvent, type TextStream } from '../streams/read-events.ts';
import { chatReport, chatResponse, contentText, reasoningText } from './chat-response.ts';
import type { ProviderConnection, RequestedText } from '../provider.ts';
import { createToolCalls } from './stream-tool-calls.ts';
import { isListedModel } from '../settings-fields.ts';
import { createReasoningFilter, stripReasoning, thinksInText, type ReasoningHabits } from './strip-reasoning.ts';

/**
 * Reads the chunks of a chat completion. A stream ends with `[DONE]`; without it, a `finish_reason` marks it complete. Usage
 * comes in the last chunk, in a separate one, or (xAI) grows with each chunk.
 */
export const createChatStream = (
  { habits, ...request }: RequestedText & { readonly habits?: ReasoningHabits },
  connection: ProviderConnection,
  onText: (piece: string) => void,
): TextStream => {
  const reasoning = createReasoningFilter(
    isListedModel('reasoning_models', request.model, connection.settings) ||
      habits?.holds(request.model, connection.settings),
    thinksInText(request.model, connection.settings),
  );
  const toolCalls = createToolCalls();
  const details: JsonObject[] = [];
  const annotations: JsonObject[] = [];
  const state = {
    content: '',
    /** All that the model wrote, reasoning included. */
    written: '',
    refusal: '',
    reasoning: '',
    reason: null as string | null,
    usage: undefined as unknown,
    model: null as string | null,
  };
  let wholeBody: JsonObject | null = null;
  let hasChoice = false;

  const show = (piece: string): void => {
    state.content += piece;
    if (piece !== '') onText(piece);
  };
  const takeChunk = (chunk: JsonObject): void => {
    // Before an error is thrown: the event that has it may have the usage too, which is billed (D51).
    state.usage = laterUsage(state.usage, usageIn(chunk));
    const choice = listAt(chunk, 'choices')[0];
    const failed = [chunk, choice].find((holder) => Boolean((holder as JsonObject | undefined)?.['error']));
    if (failed !== undefined) throw errorInside(failed, connection);
    state.model = textAt(chunk, 'model') ?? state.model;
    if (choice === undefined) return;
    hasChoice = true;
    const delta = objectAt(choice, 'delta');
    const [piece, refusal] = [contentText(delta['content']), textOf(delta['refusal'])];
    state.refusal += refusal;
    const thought = reasoningText(delta);
    if (thought !== '') {
      reasoning.separate();
      state.reasoning += thought;
      connection.onReasoning?.({ text: thought, format: 'chat' });
    }
    details.push(...listAt(delta, 'reasoning_details').filter(isRecord));
    annotations.push(...listAt(delta, 'annotations').filter(isRecord));
    state.written += piece + refusal + thought;
    state.reason = textAt(choice, 'finish_reason') ?? state.reason;
    show(reasoning.push(piece));
    for (const called of listAt(delta, 'tool_calls')) toolCalls.take(called);
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
    report() {
      if (wholeBody !== null) return chatReport(usageIn(wholeBody));
      const calls = toolCalls.all();
      return { ...chatReport(state.usage), written: state.written + (calls.length > 0 ? JSON.stringify(calls) : '') };
    },
    result() {
      if (wholeBody !== null) {
        const whole = chatResponse(wholeBody, request, connection);
        if (whole.content !== '') onText(whole.content);
        return whole;
      }
      show(reasoning.end());
      habits?.note(request.model, reasoning.hadLoneClosing() || stripReasoning(state.content) !== state.content);
      const { content, refusal, reason: finish_reason, usage, model } = state;
      const tool_calls = toolCalls.all();
      const reasoning_details = joinDetails(details);
      for (const item of reasoning_details) connection.onReasoning?.({ text: '', item, format: 'chat' });
      const beside = { reasoning: state.reasoning, reasoning_details, annotations };
      const choices = hasChoice ? [{ message: { content, refusal, tool_calls, ...beside }, finish_reason }] : [];
      // Text after the removed reasoning may look like reasoning; do not strip it twice.
      return { ...chatResponse({ choices, usage, model }, request, connection), ...(hasChoice && { content }) };
    },
  };
};

/** The details of a stream as the next request must repeat them: texts of one index come in pieces. */
function joinDetails(pieces: readonly JsonObject[]): JsonObject[] {
  const joined: JsonObject[] = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    const name = piece['type'] === 'reasoning.summary' ? 'summary' : 'text';
    const isNext = last !== undefined && last['type'] === piece['type'] && last['index'] === piece['index'];
    if (isNext && typeof piece[name] === 'string')
      joined[joined.length - 1] = { ...last, ...piece, [name]: textOf(last[name]) + piece[name] };
    else joined.push(piece);
  }
  return joined;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
