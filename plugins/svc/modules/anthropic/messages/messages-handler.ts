import { randomUUID } from 'node:crypto';
import { RestResponse } from '#plugin-api';
import { responseHeaders } from '../../../kit/response-headers.ts';
import type { ServerSentEvent } from '../../../kit/server-sent-events.ts';
import { streamResponse, visibleError } from '../../../kit/stream-response.ts';
import type { AnthropicPorts, AnthropicRequest } from '../anthropic-ports.ts';
import { anthropicErrorBody } from '../error-body.ts';
import { anthropicName, withAnthropicNames } from '../param-names.ts';
import { readMessageCall, type MessageCall } from './message-call.ts';
import { createMessageEvents, type Head } from './message-events.ts';
import { writeMessage, writeSource } from './write-message.ts';

/** Handler of `POST messages`. If the client disconnects, the call to the provider is aborted. */
export function createMessages(ports: AnthropicPorts) {
  return async (request: AnthropicRequest): Promise<RestResponse> => {
    const call = await readMessageCall(request, ports);
    const head = { id: `msg_${randomUUID().replaceAll('-', '')}`, model: call.model };
    if (call.stream) return streamMessage(call, head, { ports, request });
    const result = await call.run(request.signal);
    return new RestResponse({
      body: { id: head.id, ...writeMessage(result), model: head.model, svc: writeSource(result) },
      headers: responseHeaders({ ...result, ignored: result.ignored.map(anthropicName) }),
    });
  };
}

interface StreamInit {
  readonly ports: AnthropicPorts;
  readonly request: AnthropicRequest;
}

function streamMessage(call: MessageCall, head: Head, { ports, request }: StreamInit): Promise<RestResponse> {
  const { clock } = ports.host;
  const failure = { host: ports.host, requestId: request.id, event: 'anthropic_stream_failed' };
  const failed = (error: unknown): ServerSentEvent => ({
    event: 'error',
    data: anthropicErrorBody(visibleError(withAnthropicNames(error), failure), request.id),
  });
  const run = async (push: (event: ServerSentEvent) => void): Promise<void> => {
    const events = createMessageEvents(head, push);
    events.end(await call.run(request.signal, events));
  };
  return streamResponse(run, { clock, failed, idle: { event: 'ping', data: { type: 'ping' } } });
}
