import { laterUsage, objectAt, textAt, usageIn, type JsonObject } from '../json.ts';
import { errorInside, parseEvent, type OpenTextStream } from '../streams/read-events.ts';
import { claudeReport, claudeResponse } from './claude-response.ts';
import { createThinkingBlocks } from './thinking-blocks.ts';

/** Reads the events of a message until `message_stop`. The first event has the input tokens, the last ones the output tokens. */
export const createClaudeStream: OpenTextStream = (request, connection, onText) => {
  let message: JsonObject = {};
  let usage: JsonObject = {};
  let content = '';
  let hasFinalUsage = false;
  let received: JsonObject | null = null;
  /** The first event of a native answer, until content follows: before it the call can still be retried. */
  let opening: JsonObject | null = null;
  const onEvent = request.native && connection.onEvent;
  const thinking = createThinkingBlocks(connection);
  /** Tool calls by the index of their block, with the JSON of their input. */
  const calls = new Map<unknown, { readonly block: JsonObject; json: string }>();

  const show = (piece: unknown): void => {
    if (typeof piece !== 'string' || piece === '') return;
    content += piece;
    onText(piece);
  };
  const readers: Readonly<Record<string, (event: JsonObject) => void>> = {
    message_start: (event) => {
      opening = event;
      message = objectAt(event, 'message');
      usage = objectAt(message, 'usage');
    },
    content_block_start: (event) => {
      const block = objectAt(event, 'content_block');
      thinking.start(event);
      if (block['type'] === 'text') show(block['text']);
      if (block['type'] === 'tool_use') calls.set(event['index'], { block, json: '' });
    },
    content_block_delta: (event) => {
      const delta = objectAt(event, 'delta');
      if (delta['type'] === 'text_delta') show(delta['text']);
      thinking.add(event);
      const call = calls.get(event['index']);
      if (call && typeof delta['partial_json'] === 'string') call.json += delta['partial_json'];
    },
    content_block_stop: (event) => thinking.stop(event),
    message_delta: (event) => {
      const context = event['context_management'];
      message = { ...message, ...objectAt(event, 'delta'), ...(Boolean(context) && { context_management: context }) };
      usage = laterUsage(usage, event['usage']);
      hasFinalUsage = true;
    },
  };
  const passOn = (event: JsonObject): void => {
    if (opening !== null) onEvent?.(opening);
    opening = null;
    onEvent?.(event);
  };

  return {
    take({ event: name = '', data }) {
      const event = parseEvent(data);
      if (Boolean(event['error'])) {
        usage = laterUsage(usage, usageIn(event));
        throw errorInside(event, connection);
      }
      const type = textAt(event, 'type') ?? name;
      if (type.startsWith('content_block_')) passOn(event);
      readers[type]?.(event);
      return type === 'message_stop';
    },
    whole(body) {
      received = body;
    },
    // The event with it comes after all of the content.
    isComplete: () => textAt(message, 'stop_reason') !== null,
    report: () =>
      received === null
        ? {
            ...claudeReport(usage),
            isPartial: !hasFinalUsage,
            written: [thinking.text(), content, ...[...calls.values()].map(({ json }) => json)].join(''),
          }
        : claudeReport(usageIn(received)),
    result() {
      // A cut input stays the text that it is.
      const tools = [...calls.values()].map(({ block, json }) => (json === '' ? block : { ...block, input: json }));
      const text = { type: 'text', text: content };
      const body = received ?? { ...message, content: [...thinking.blocks(), text, ...tools], usage };
      const result = claudeResponse(body, request, connection);
      if (received !== null) for (const piece of result.reasoning ?? []) connection.onReasoning?.(piece);
      if (received !== null && result.content !== '') onText(result.content);
      return received === null && !hasFinalUsage ? { ...result, isPartial: true } : result;
    },
  };
};
