import { RestResponse } from '#plugin-api';
import { responseHeaders } from '../../../kit/response-headers.ts';
import { streamResponse, visibleError } from '../../../kit/stream-response.ts';
import { openAiErrorBody } from '../error-body.ts';
import type { OpenAiPorts, OpenAiRequest } from '../openai-ports.ts';
import { readResponseCall } from './response-call.ts';
import type { ResponseCall } from './response-run.ts';
import { createResponseEvents, type ResponseEvents } from './response-events.ts';
import { ignoredNames, responseHead, writeResponse, type ResponseHead } from './write-response.ts';

/** Handler of `POST responses`. If the client disconnects, the call to the provider is aborted. */
export function createResponses(ports: OpenAiPorts) {
  return async (request: OpenAiRequest): Promise<RestResponse> => {
    const call = await readResponseCall(request, ports);
    const head = responseHead(call, ports.host.clock.now());
    if (call.stream) return streamEvents(call, head, { ports, request });
    const result = await call.run(request.signal);
    return new RestResponse({
      body: writeResponse(head, result),
      headers: responseHeaders({ ...result, ignored: ignoredNames(result) }),
    });
  };
}

interface StreamInit {
  readonly ports: OpenAiPorts;
  readonly request: OpenAiRequest;
}

/** The events of a response as they arrive. */
function streamEvents(call: ResponseCall, head: ResponseHead, { ports, request }: StreamInit): Promise<RestResponse> {
  const { clock } = ports.host;
  const failure = { host: ports.host, requestId: request.id, event: 'openai_response_failed' };
  let events: ResponseEvents | undefined;
  return streamResponse(
    async (push) => {
      events = createResponseEvents(push, head);
      events.end(await call.run(request.signal, events));
    },
    {
      clock,
      failed(error) {
        const body = openAiErrorBody(visibleError(error, failure));
        return events?.fail(body.error) ?? { data: body };
      },
    },
  );
}
