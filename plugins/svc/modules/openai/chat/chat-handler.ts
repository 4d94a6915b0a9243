import { randomUUID } from 'node:crypto';
import { RestResponse, withoutUndefined } from '#plugin-api';
import { responseHeaders } from '../../../kit/response-headers.ts';
import type { ServerSentEvent, TextEvent } from '../../../kit/server-sent-events.ts';
import { streamResponse, visibleError } from '../../../kit/stream-response.ts';
import type { ToolCall } from '../../../kit/tools.ts';
import { openAiErrorBody } from '../error-body.ts';
import type { OpenAiPorts, OpenAiRequest } from '../openai-ports.ts';
import { reasoningMembers } from './reasoning.ts';
import { readChatCall, type ChatCall, type ChatResult } from './chat-call.ts';

/** Handler of `POST chat/completions`. If the client disconnects, the call to the provider is aborted. */
export function createChat(ports: OpenAiPorts) {
  return async (request: OpenAiRequest): Promise<RestResponse> => {
    const call = await readChatCall(request, ports);
    const head = { id: `chatcmpl-${randomUUID()}`, created: Math.floor(ports.host.clock.now() / 1000) };
    if (call.stream) return streamChat(call, { ...head, model: call.model }, { ports, request });
    const result = await call.run(request.signal);
    const { content, toolCalls = [], refusal = null, reasoning = [], annotations = [] } = result;
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
              ...reasoningMembers(reasoning),
              ...(toolCalls.length > 0 && { tool_calls: toolCalls.map(writeToolCall) }),
              ...(annotations.length > 0 && { annotations }),
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

/** The chunks of a completion as they arrive, then `[DONE]`. */
function streamChat(call: ChatCall, head: Head, { ports, request }: StreamInit): Promise<RestResponse> {
  const { clock } = ports.host;
  const run = async (pushEvent: (event: ServerSentEvent | TextEvent) => void): Promise<void> => {
    const push = (members: object): void =>
      pushEvent({ data: { ...head, object: 'chat.completion.chunk', ...members } });
    // As OpenAI does, if the usage is requested.
    const noUsage = call.includeUsage ? { usage: null } : {};
    const pushDelta = (delta: object, finish_reason: string | null = null): void =>
      push({ choices: [{ index: 0, delta, logprobs: null, finish_reason }], ...noUsage });
    let hasStarted = false;
    const start = (): void => {
      if (!hasStarted) pushDelta({ role: 'assistant', content: '' });
      hasStarted = true;
    };
    const result = await call.run(request.signal, {
      onText(content) {
        start();
        pushDelta({ content });
      },
      onReasoning(piece) {
        const delta = reasoningMembers([piece]);
        if (Object.keys(delta).length === 0) return;
        start();
        pushDelta(delta);
      },
    });
    start();
    if (result.refusal !== undefined) pushDelta({ refusal: result.refusal });
    if (result.annotations !== undefined) pushDelta({ annotations: result.annotations });
    const calls = result.toolCalls ?? [];
    if (calls.length > 0) pushDelta({ tool_calls: calls.map((one, index) => ({ index, ...writeToolCall(one) })) });
    push({
      choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: finishReason(result) }],
      svc: writeSource(result),
      ...noUsage,
    });
    if (call.includeUsage) push({ choices: [], usage: writeUsage(result) });
    pushEvent({ text: '[DONE]' });
  };
  const failure = { host: ports.host, requestId: request.id, event: 'openai_stream_failed' };
  return streamResponse(run, { clock, failed: (error) => ({ data: openAiErrorBody(visibleError(error, failure)) }) });
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
