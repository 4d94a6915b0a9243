import { isRecord } from '#plugin-api';
import { laterUsage, listAt, objectAt, textAt, usageIn, type JsonObject } from '../json.ts';
import type { ProviderConnection, RequestedText } from '../provider.ts';
import { errorInside, parseEvent, type TextStream } from '../streams/read-events.ts';
import { reasoningOf, responsesReport, responsesResponse } from './responses-response.ts';

const lastEvents: readonly string[] = ['response.completed', 'response.incomplete', 'response.failed'];
/** Events before the content. */
const firstEvents: readonly string[] = ['response.queued', 'response.in_progress'];

/** Events with a part of what the model writes besides its text. */
const otherDeltas = /^response\.(?:refusal|function_call_arguments|mcp_call_arguments|custom_tool_call_input)\.delta$/;
const reasoningDeltas = /^response\.(reasoning_summary_text|reasoning_text)\.delta$/;

/** Reads the events of a response. A stream is complete with the event that has the whole response. */
export const createResponsesStream = (
  request: RequestedText,
  connection: ProviderConnection,
  onText: (piece: string) => void,
): TextStream => {
  const state = {
    content: '',
    /** All that the model wrote besides its text, to estimate what is not reported. */
    written: '',
    usage: undefined as unknown,
    last: null as JsonObject | null,
  };
  const items: unknown[] = [];
  const onEvent = request.native && connection.onEvent;
  /** The first event of a native answer, until content follows: before it the call can still be retried. */
  let opening: JsonObject | null = null;
  const passOn = (event: JsonObject): void => {
    if (opening !== null) onEvent?.(opening);
    opening = null;
    onEvent?.(event);
  };
  const reasoning = createReasoningReader(connection);

  const show = (piece: string): void => {
    state.content += piece;
    if (piece !== '') onText(piece);
  };
  const take = (event: JsonObject): boolean => {
    const type = textAt(event, 'type') ?? '';
    const response = objectAt(event, 'response');
    // Before an error is thrown: the event that has it may have the usage too, which is billed (D51).
    state.usage = laterUsage(laterUsage(state.usage, usageIn(event)), usageIn(response));
    if (type === 'error' || isRecord(event['error'])) throw errorInside(errorBody(event), connection);
    if (type === 'response.created') opening = event;
    else if (![...firstEvents, ...lastEvents].includes(type)) passOn(event);
    const delta = typeof event['delta'] === 'string' ? event['delta'] : '';
    if (type === 'response.output_text.delta') show(delta);
    else if (otherDeltas.test(type)) state.written += delta;
    else if (type === 'response.output_item.done') items.push(event['item']);
    state.written += reasoning.take(type, event);
    if (!lastEvents.includes(type)) return false;
    state.last = response;
    return true;
  };
  return {
    take({ data }) {
      if (data.startsWith('[DONE]')) return false;
      return take(parseEvent(data));
    },
    whole(body) {
      [state.last, state.usage] = [body, usageIn(body)];
    },
    isComplete: () => state.last !== null,
    report: () => ({ ...responsesReport(state.usage), written: state.content + state.written }),
    result() {
      const last = state.last ?? {};
      // Some servers end with a response without the items that came before.
      const output = items.length > 0 && listAt(last, 'output').length === 0 ? { output: items } : {};
      const whole = responsesResponse({ ...last, usage: state.usage, ...output }, request, connection);
      if (whole.content.startsWith(state.content)) show(whole.content.slice(state.content.length));
      return { ...whole, content: state.content };
    },
  };
};

/** The code and the message are in `error`, or as OpenAI describes it in the event itself. */
function errorBody(event: JsonObject): JsonObject {
  if (isRecord(event['error'])) return event;
  const { type: _type, ...error } = event;
  return { error };
}

/** Passes on the reasoning in its pieces. Of an item with a summary and the reasoning itself, that which came first. */
function createReasoningReader({ onReasoning }: ProviderConnection) {
  const kinds = new Map<unknown, string>();
  const show = (text: string): string => {
    if (text !== '') onReasoning?.({ text });
    return text;
  };
  return {
    /** Returns what was written in the event. */
    take(type: string, event: JsonObject): string {
      const id = event['item_id'] ?? event['output_index'];
      const kind = reasoningDeltas.exec(type)?.[1];
      if (kind !== undefined) {
        const known = kinds.get(id) ?? kind;
        kinds.set(id, known);
        const delta = typeof event['delta'] === 'string' ? event['delta'] : '';
        return known === kind ? show(delta) : '';
      }
      if (type === 'response.reasoning_summary_part.added' && kinds.has(id)) return show('\n\n');
      const { item, format, text } = reasoningOf(event['item']);
      if (type !== 'response.output_item.done' || textAt(item, 'type') !== 'reasoning') return '';
      const isNew = !kinds.has(item?.['id'] ?? event['output_index']);
      onReasoning?.({ text: isNew ? text : '', item, format });
      return isNew ? text : '';
    },
  };
}
