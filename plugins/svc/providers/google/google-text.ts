import type { ModelInfo, Provider, ProviderConnection, TextCapability, TextRequest, TextResult } from '../provider.ts';
import { keepUsage } from '../provider-errors.ts';
import { readEvents } from '../streams/read-events.ts';
import { withTimeLimit } from '../time-limit.ts';
import { callGoogle } from './google-client.ts';
import { googleRequest } from './google-request.ts';
import { googleModel, googleReport, googleResponse } from './google-response.ts';
import { createGoogleStream } from './google-stream.ts';

export const stream: NonNullable<TextCapability['stream']> = (request, connection, onText) => {
  const reader = createGoogleStream(request, connection, onText);
  const run = async (signal: AbortSignal): Promise<TextResult> => {
    const { parameters, ignored } = googleRequest(request, connection.settings);
    // The SDK's own reader of the stream knows neither odd forms of it nor its errors.
    const { response } = await callGoogle(connection, signal, (client, options) =>
      client.models.generateContentStream({ ...parameters, config: { ...parameters.config, ...options } }),
    );
    await readEvents({ response, connection }, reader);
    return { ignored, ...reader.result() };
  };
  return keepUsage(reader.report, () => withTimeLimit(connection, run));
};

export function generate(request: TextRequest, connection: ProviderConnection): Promise<TextResult> {
  return withTimeLimit(connection, async (signal) => {
    const { parameters, ignored } = googleRequest(request, connection.settings);
    const { result: received } = await callGoogle(connection, signal, (client, options) =>
      client.models.generateContent({ ...parameters, config: { ...parameters.config, ...options } }),
    );
    const read = () => googleResponse(received, request, connection);
    return { ignored, ...(await keepUsage(() => googleReport(received), read)) };
  });
}

export const listModels: Provider['listModels'] = (connection) =>
  withTimeLimit(connection, (signal) => readModels(connection, signal));

async function readModels(connection: ProviderConnection, signal: AbortSignal): Promise<ModelInfo[]> {
  const { result } = await callGoogle(connection, signal, async (client, options) => {
    const models: (ModelInfo | null)[] = [];
    const pages = await client.models.list({ config: { pageSize: 1000, ...options } });
    for await (const entry of pages) models.push(googleModel(entry));
    return models;
  });
  return result.filter((model) => model !== null);
}
