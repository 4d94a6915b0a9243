import type { Anthropic } from '@anthropic-ai/sdk';
import type { Provider, ProviderConnection, TextCapability, TextRequest, TextResult } from '../provider.ts';
import { countAt, usageIn } from '../json.ts';
import { keepUsage, unreadableResponse } from '../provider-errors.ts';
import { readEvents } from '../streams/read-events.ts';
import { readJson, sdkTimeout, withTimeLimit } from '../time-limit.ts';
import { createClaudeClients } from './claude-client.ts';
import { claudeRequest } from './claude-request.ts';
import { claudeModels, claudeReport, claudeResponse } from './claude-response.ts';
import { createClaudeStream } from './claude-stream.ts';

const getClient = createClaudeClients();

export const stream: NonNullable<TextCapability['stream']> = (request, connection, onText) => {
  const reader = createClaudeStream(request, connection, onText);
  const run = async (signal: AbortSignal): Promise<TextResult> => {
    const { body, ignored } = claudeRequest(request, connection.settings);
    const client = await getClient(connection);
    const init = { signal, connection, headers: request.native?.headers };
    const response = await postMessage(client, { ...body, stream: true }, init);
    await readEvents({ response, connection }, reader);
    return { ignored, ...reader.result() };
  };
  return keepUsage(reader.report, () => withTimeLimit(connection, run));
};

export function generate(request: TextRequest, connection: ProviderConnection): Promise<TextResult> {
  return withTimeLimit(connection, async (signal) => {
    const { body, ignored } = claudeRequest(request, connection.settings);
    const client = await getClient(connection);
    // A filter may need the whole text of a caller who asked for a stream.
    const whole = body['stream'] === true ? { ...body, stream: false } : body;
    const response = await postMessage(client, whole, { signal, connection, headers: request.native?.headers });
    const received = await readJson(response);
    const read = () => claudeResponse(received, request, connection);
    return { ignored, ...(await keepUsage(() => claudeReport(usageIn(received)), read)) };
  });
}

/** Tokens of the input of a request in Claude's own format. */
export function countTokens(request: TextRequest, connection: ProviderConnection): Promise<number> {
  return withTimeLimit(connection, async (signal) => {
    const { body } = claudeRequest(request, connection.settings);
    const client = await getClient(connection);
    const init = { signal, connection, headers: request.native?.headers };
    const received = await readJson(await postMessage(client, body, { ...init, path: '/v1/messages/count_tokens' }));
    const count = countAt(received, 'input_tokens');
    if (count === null) throw unreadableResponse('no number "input_tokens" in it');
    return count;
  });
}

/**
 * `client.messages.create` would write that a model is deprecated to the console, between the lines of the log, and its types
 * are for the newest API version, which has no sampling parameters.
 */
function postMessage(
  client: Anthropic,
  body: Readonly<Record<string, unknown>>,
  { signal, connection, headers, path = '/v1/messages' }: PostInit,
): Promise<Response> {
  const stream = body['stream'] === true;
  const timeout = sdkTimeout(connection);
  return client.post(path, { body, stream, signal, timeout, ...(headers && { headers }) }).asResponse();
}

interface PostInit {
  readonly signal: AbortSignal;
  readonly connection: ProviderConnection;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly path?: string;
}

export const listModels: Provider['listModels'] = (connection) =>
  withTimeLimit(connection, async (signal) => {
    const client = await getClient(connection);
    return claudeModels(
      await readJson(
        await client.models.list({ limit: 1000 }, { signal, timeout: sdkTimeout(connection) }).asResponse(),
      ),
    );
  });
