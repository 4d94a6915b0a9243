import { randomUUID } from 'node:crypto';
import { asRecord, RestError, RestResponse, withoutUndefined } from '#plugin-api';
import { createEventQueue } from '../../../kit/event-queue.ts';
import { responseHeaders } from '../../../kit/response-headers.ts';
import { eventResponse, type ServerSentEvent, type TextEvent } from '../../../kit/server-sent-events.ts';
import type { ToolCall } from '../../../kit/tools.ts';
import { openAiErrorBody } from '../error-body.ts';
import type { OpenAiPorts, OpenAiRequest } from '../openai-ports.ts';
import { readChatCall, type ChatCall, type ChatResult } from './chat-call.ts';

/** Handler of `POST chat/completions`. If the client disconnects, the call to the provider is aborted. */
export function createChat(ports: OpenAiPorts) {
  return async (request: OpenAiRequest): Promise<RestResponse> => {
    const call = await readChatCall(request, ports);
    const head = { id: `chatcmpl-${randomUUID()}`, created: Math.floor(ports.host.clock.now() / 1000) };
    if (call.stream) return streamChat(call, { ...head, model: call.model }, { ports, request });
    const result = await call.run(request.signal);
    const { content, toolCalls = [], refusal = null } = result;
    return new RestResponse({
      body: {
        ...head,
        object: 'chat.completion',
        model: call.model,
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              content: content === '' && (toolCalls.length > 0 || refusal !== null) ? null : content,
              refusal,
              ...(toolCalls.length > 0 && { tool_calls: toolCalls.map(writeToolCall) }),
            },
            logprobs: null,
            finish_reason: finishReason(result),
          },
        ],
        usage: writeUsage(result),
        svc: writeSource(result),
      },
      headers: responseHeaders(result),
    });
  };
}

interface Head {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly created: number;
  readonly model: string;
}

interface StreamInit {
  readonly ports: OpenAiPorts;
  readonly request: OpenAiRequest;
}

/** Milliseconds after which a stream begins, with or without a text: refusals of this service and most of vendors come sooner. */
const openAfter = 1000;

/**
 * Errors of the first second are responses with their status, unless text came before; later ones are events. A stream without
 * text by then begins with a comment, and continues with one every 15 seconds, so that proxies keep the connection (D50).
 */
async function streamChat(call: ChatCall, head: Head, { ports, request }: StreamInit): Promise<RestResponse> {
  const { clock, log } = ports.host;
  const queue = createEventQueue<ServerSentEvent | TextEvent>();
  const push = (members: object): void =>
    queue.push({ data: { ...head, object: 'chat.completion.chunk', ...members } });
  // As OpenAI does, if the usage is requested.
  const noUsage = call.includeUsage ? { usage: null } : {};
  const pushDelta = (delta: object, finish_reason: string | null = null): void =>
    push({ choices: [{ index: 0, delta, logprobs: null, finish_reason }], ...noUsage });
  let hasBegun = false;
  let isOpen = false;
  const begun = new Promise<void>((resolve) => {
    queue.onFirst(() => {
      hasBegun = true;
      resolve();
    });
  });
  const start = (): void => {
    if (!hasBegun) pushDelta({ role: 'assistant', content: '' });
  };
  const completed = call
    .run(request.signal, (content) => {
      start();
      pushDelta({ content });
    })
    .then((result) => {
      start();
      if (result.refusal !== undefined) pushDelta({ refusal: result.refusal });
      const calls = result.toolCalls ?? [];
      if (calls.length > 0) pushDelta({ tool_calls: calls.map((one, index) => ({ index, ...writeToolCall(one) })) });
      push({
        choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: finishReason(result) }],
        svc: writeSource(result),
        ...noUsage,
      });
      if (call.includeUsage) push({ choices: [], usage: writeUsage(result) });
      queue.push({ text: '[DONE]' });
    })
    .catch((error: unknown) => {
      if (!hasBegun && !isOpen) throw error;
      if (!(error instanceof RestError))
        log.error('OpenAI-compatible stream failed', { event: 'openai_stream_failed', request_id: request.id, error });
      queue.push({ data: openAiErrorBody(errorOf(error, request.id)) });
    })
    .finally(() => queue.end());
  let cancel = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    cancel = clock.after(openAfter, () => {
      isOpen = true;
      resolve();
    });
  });
  await Promise.race([begun, completed, opened]).finally(cancel);
  return eventResponse(queue.events(), {
    clock,
    opening: !hasBegun,
    headers: { 'Cache-Control': 'no-store, no-transform' },
  });
}

/** Details of unexpected errors are only logged. */
function errorOf(error: unknown, requestId: string) {
  if (!(error instanceof RestError))
    return {
      code: 'rest_internal_error',
      message: `An unexpected error occurred. Request id: ${requestId}.`,
      data: { status: 500 },
    };
  const { code, message, status, data } = error;
  return { code, message, data: { ...asRecord(data), status } };
}

function writeToolCall({ id, name, arguments: given, signature }: ToolCall): object {
  return {
    id,
    type: 'function',
    function: { name, arguments: given },
    // As in Google's own OpenAI-compatible API.
    ...(signature !== undefined && { extra_content: { google: { thought_signature: signature } } }),
  };
}

/** A text that ends with a refusal has ended by itself, as OpenAI sees it. */
function finishReason({ content, finish, refusal, toolCalls = [] }: ChatResult): string {
  if (refusal !== undefined && content !== '') return 'stop';
  return finish ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop');
}

/** Details only of tokens that the provider reported. */
function writeUsage({ usage, tokenDetails = {} }: ChatResult): object {
  const { input_tokens: prompt_tokens, output_tokens: completion_tokens, total_tokens } = usage;
  const { cached_input: cached_tokens, audio_input, reasoning: reasoning_tokens, audio_output } = tokenDetails;
  const prompt = withoutUndefined({ cached_tokens, audio_tokens: audio_input });
  const completion = withoutUndefined({ reasoning_tokens, audio_tokens: audio_output });
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens,
    ...(Object.keys(prompt).length > 0 && { prompt_tokens_details: prompt }),
    ...(Object.keys(completion).length > 0 && { completion_tokens_details: completion }),
  };
}

/** Who wrote it, which another provider may have done (failover), and what was left out: a stream has sent its headers. */
function writeSource({ providerId, model, ignored }: ChatResult): object {
  return { provider: providerId, model, ...(ignored.length > 0 && { ignored_params: ignored }) };
}
