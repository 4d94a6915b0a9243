import type {
  ResponseCreateParamsNonStreaming,
  ResponseCreateParamsStreaming,
} from 'openai/resources/responses/responses';
import { createChatClients, type ChatAccessOf } from '../chat-completions/chat-client.ts';
import { usageIn } from '../json.ts';
import type { ParamRules } from '../params.ts';
import type { ProviderConnection, TextCapability, TextRequest, TextResult } from '../provider.ts';
import { keepUsage } from '../provider-errors.ts';
import { readEvents } from '../streams/read-events.ts';
import { readJson, sdkTimeout, withTimeLimit } from '../time-limit.ts';
import { responsesRequest, type ResponsesTraits } from './responses-request.ts';
import { responsesReport, responsesResponse } from './responses-response.ts';
import { createResponsesStream } from './responses-stream.ts';

export interface ResponsesCallsInit {
  readonly access: ChatAccessOf;
  readonly rules: ParamRules;
  readonly traits: ResponsesTraits;
}

/** The calls of a provider with OpenAI's Responses API. */
export function createResponsesCalls({
  access,
  ...init
}: ResponsesCallsInit): Required<Pick<TextCapability, 'generate' | 'stream'>> {
  const getClient = createChatClients();
  const prepare = async (request: TextRequest, connection: ProviderConnection) => {
    const { settings } = connection;
    const client = await getClient(access(settings, request.model), connection);
    return { client, ...responsesRequest(request, { ...init, settings }) };
  };
  return {
    generate: (request, connection) =>
      withTimeLimit(connection, async (signal): Promise<TextResult> => {
        const { client, body, ignored } = await prepare(request, connection);
        // The SDK's type is OpenAI's alone; the vendors differ.
        const params = body as unknown as ResponseCreateParamsNonStreaming;
        const response = await client.responses
          .create(params, { signal, timeout: sdkTimeout(connection) })
          .asResponse();
        const received = await readJson(response);
        const read = () => responsesResponse(received, request, connection);
        return { ignored, ...(await keepUsage(() => responsesReport(usageIn(received)), read)) };
      }),

    stream(request, connection, onText) {
      const reader = createResponsesStream(request, connection, onText);
      const run = async (signal: AbortSignal): Promise<TextResult> => {
        const { client, body, ignored } = await prepare(request, connection);
        const params = { ...body, stream: true } as unknown as ResponseCreateParamsStreaming;
        const response = await client.responses
          .create(params, { signal, timeout: sdkTimeout(connection) })
          .asResponse();
        await readEvents({ response, connection }, reader);
        return { ignored, ...reader.result() };
      };
      return keepUsage(reader.report, () => withTimeLimit(connection, run));
    },
  };
}
