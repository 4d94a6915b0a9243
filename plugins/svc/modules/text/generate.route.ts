import { argumentBounds, RestResponse } from '#plugin-api';
import type { JsonSchema, ParamsOf, RestRequest, RouteArguments } from '#plugin-api';
import type { HostPort, TextPort } from '../../ports.ts';
import { errors } from '../../kit/errors.ts';
import { usageSchema, definePostRoute, modelArgument, providerArgument } from '../../kit/route.ts';
import { restOrigin } from '../../kit/usage-origin.ts';
import { aiParamsArgument, readAiParams } from './ai-params.ts';
import { responseHeaders } from '../../kit/response-headers.ts';
import type { TextResponse, TextRequest } from './hooks.ts';
import { checkMessages, messagesArgument } from '../../kit/messages.ts';

export type TextPorts = HostPort & TextPort;

const responseSchema = {
  type: 'object',
  title: 'text',
  properties: {
    content: { type: 'string', description: 'Generated text.' },
    usage: usageSchema,
    provider: { type: 'string', description: 'Display name of the provider used.' },
    model: { type: 'string', description: 'Model used.' },
  },
} as const satisfies JsonSchema;

const args = (ports: TextPorts) =>
  ({
    provider: providerArgument({
      ids: () => ports.textProviderIds(),
      required: true,
      description: 'Id of the provider that generates the text.',
    }),
    model: modelArgument('Model identifier; for azure the deployment.'),
    messages: messagesArgument({ roles: ['system', 'user', 'assistant'], example: 'Say hello.' }),
    system_instruction: {
      type: 'string',
      ...argumentBounds.document,
      description: 'System text that replaces all system messages. [date] and [username] are filled in.',
    },
    ai_params: aiParamsArgument,
    stream: { type: 'boolean', description: 'Not supported; omit it or set it to false.' },
  }) as const satisfies RouteArguments;

type GenerateParams = ParamsOf<ReturnType<typeof args>>;

/** `POST /generate` (contract 4.2, D4 to D9, D25). */
export const generateRoute = definePostRoute({
  path: '/generate',
  access: 'generate',
  hasDryRun: true,
  summary: 'Generate text.',
  schema: responseSchema,
  args,
  handler: generate,
});

async function generate(
  request: RestRequest<GenerateParams>,
  { host, generateText }: TextPorts,
): Promise<RestResponse> {
  const { provider, model, messages, system_instruction, ai_params, stream } = request.params;
  if (stream === true) throw errors.streaming_not_supported();
  checkMessages(messages);
  const { params, ignored } = readAiParams(ai_params);
  const { hooks } = host;
  const call: TextRequest = await hooks.applyFiltersAsync(
    'svc_text_request',
    { provider, model, messages, ai_params: params, ...(system_instruction !== undefined && { system_instruction }) },
    request,
  );
  const result = await generateText({
    provider: call.provider,
    model: call.model,
    messages: call.messages,
    ...(call.system_instruction !== undefined && { systemInstruction: call.system_instruction }),
    params: call.ai_params,
    user: request.user,
    signal: request.signal,
    origin: restOrigin(request, '/generate'),
  });
  const response: TextResponse = {
    content: result.content,
    usage: result.usage,
    provider: result.provider,
    model: result.model,
  };
  const body = await hooks.applyFiltersAsync('svc_text_response', response, call, request);
  return new RestResponse({
    body,
    headers: responseHeaders({ ...result, ignored: [...result.ignored, ...ignored] }),
  });
}
