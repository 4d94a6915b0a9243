import type { Anthropic } from '@anthropic-ai/sdk';
import { claudeAddress, createClaudeClients } from './claude/claude-client.ts';
import { claudeEnforcesSchemas, samplingVersion } from './claude/claude-models.ts';
import { claudeRequest, claudeRules } from './claude/claude-request.ts';
import { claudeModels, claudeReport, claudeResponse } from './claude/claude-response.ts';
import { createClaudeStream } from './claude/claude-stream.ts';
import { isHint } from '../kit/text-hints.ts';
import { createTextCapability } from './unsupported-params.ts';
import type { Provider, ProviderConnection, TextCapability, TextRequest, TextResult } from './provider.ts';
import { keepUsage } from './provider-errors.ts';
import { readJson } from './time-limit.ts';
import { modelFields, providerFields } from './settings-fields.ts';
import { readEvents } from './streams/read-events.ts';
import { sdkTimeout, withTimeLimit } from './time-limit.ts';

const getClient = createClaudeClients();

const stream: NonNullable<TextCapability['stream']> = (request, connection, onText) => {
  const reader = createClaudeStream(request, connection, onText);
  const run = async (signal: AbortSignal): Promise<TextResult> => {
    const { body, ignored } = claudeRequest(request, connection.settings);
    const client = await getClient(connection);
    const response = await postMessage(client, { ...body, stream: true }, { signal, connection });
    await readEvents({ response, connection }, reader);
    return { ignored, ...reader.result() };
  };
  return keepUsage(reader.report, () => withTimeLimit(connection, run));
};

/** Claude's Messages API (D9), using the package `@anthropic-ai/sdk`. */
export const provider: Provider = {
  id: 'claude',
  label: 'Claude',
  load: () => import('@anthropic-ai/sdk'),
  required: ['api_key'],
  settings: {
    type: 'object',
    properties: {
      ...providerFields({
        key: 'From platform.claude.com, under API keys.',
        address: claudeAddress,
        addressHelp: 'Without a version.',
        models: {},
      }),
      api_version: {
        type: 'string',
        title: 'API version',
        description:
          'Value of the header anthropic-version. Versions after 2023-06-01 take no temperature, top_p and top_k.',
        default: samplingVersion,
      },
      ...modelFields({ model: 'claude-sonnet-5-5' }),
    },
  },
  text: createTextCapability({
    rules: claudeRules,
    // All models since Claude 3.
    sees: (model) => !/claude-(instant|v?[12])(?!\d)/i.test(model),
    supports: (feature, model) =>
      feature === 'tools.strict' || feature === 'response_format.json_schema'
        ? claudeEnforcesSchemas(model)
        : feature === 'user' ||
          (!isHint(feature) && feature !== 'response_format.json_object' && feature !== 'image_url.detail'),
    generate,
    stream,
  }),
  listModels: (connection) =>
    withTimeLimit(connection, async (signal) => {
      const client = await getClient(connection);
      return claudeModels(
        await readJson(
          await client.models.list({ limit: 1000 }, { signal, timeout: sdkTimeout(connection) }).asResponse(),
        ),
      );
    }),
};

function generate(request: TextRequest, connection: ProviderConnection): Promise<TextResult> {
  return withTimeLimit(connection, async (signal) => {
    const { body, ignored } = claudeRequest(request, connection.settings);
    const client = await getClient(connection);
    const response = await postMessage(client, body, { signal, connection });
    const received = await readJson(response);
    const read = () => claudeResponse(received, request, connection);
    return { ignored, ...(await keepUsage(() => claudeReport(received['usage']), read)) };
  });
}

/**
 * `client.messages.create` would write that a model is deprecated to the console, between the lines of the log, and its types
 * are for the newest API version, which has no sampling parameters.
 */
function postMessage(
  client: Anthropic,
  body: Readonly<Record<string, unknown>>,
  { signal, connection }: { readonly signal: AbortSignal; readonly connection: ProviderConnection },
): Promise<Response> {
  const stream = body['stream'] === true;
  return client.post('/v1/messages', { body, stream, signal, timeout: sdkTimeout(connection) }).asResponse();
}
