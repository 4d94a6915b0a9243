import {
  checkingFetch,
  createGoogleClients,
  googleAddress,
  streamingFetch,
  withSignal,
} from './google/google-client.ts';
import { createGoogleEmbeddings } from './google/google-embeddings.ts';
import { createGoogleImages } from './google/google-images.ts';
import { geminiVersion, googleSupports } from './google/google-models.ts';
import { googleRequest, googleRules } from './google/google-request.ts';
import { googleModel, googleReport, googleResponse } from './google/google-response.ts';
import { createGoogleStream } from './google/google-stream.ts';
import { createGoogleVideos } from './google/google-videos.ts';
import { createTextCapability } from './unsupported-params.ts';
import type { ModelInfo, Provider, ProviderConnection, TextCapability, TextRequest, TextResult } from './provider.ts';
import { keepUsage, unreadableResponse } from './provider-errors.ts';
import { providerFields } from './settings-fields.ts';
import { readEvents } from './streams/read-events.ts';
import { sdkTimeout, withTimeLimit } from './time-limit.ts';

const getClient = createGoogleClients();

const stream: NonNullable<TextCapability['stream']> = (request, connection, onText) => {
  const reader = createGoogleStream(request, connection, onText);
  const run = async (signal: AbortSignal): Promise<TextResult> => {
    const { parameters, ignored } = googleRequest(request, connection.settings);
    const client = await getClient(connection);
    let response: Response | undefined;
    const fetch = streamingFetch(withSignal(connection, signal), (received) => {
      response = received;
    });
    const options = { abortSignal: signal, httpOptions: { timeout: sdkTimeout(connection), fetch } };
    await client.models.generateContentStream({ ...parameters, config: { ...parameters.config, ...options } });
    if (response === undefined) throw unreadableResponse('it was empty');
    await readEvents({ response, connection, signal }, reader);
    return { ignored, ...reader.result() };
  };
  return keepUsage(reader.report, () => withTimeLimit(connection, run));
};

/** Google's generateContent (D9), using the package `@google/genai`. */
export const provider: Provider = {
  id: 'google',
  label: 'Google',
  required: ['api_key'],
  settings: {
    type: 'object',
    properties: providerFields({
      key: 'From aistudio.google.com, under API keys.',
      address: googleAddress,
      addressHelp: 'Without a version.',
      models: {
        model: 'gemini-3.5-flash',
        embedding_model: 'gemini-embedding-001',
        image_model: 'gemini-3.1-flash-image',
        video_model: 'veo-3.1-generate-preview',
      },
    }),
  },
  text: createTextCapability({
    rules: googleRules,
    // Gemini since 1.5 and Gemma since 3.
    sees: (model) => (geminiVersion(model) ?? 0) >= 1.5 || /gemini-(flash|pro)|gemma-([3-9]|\d\d)/i.test(model),
    supports: googleSupports,
    generate,
    stream,
  }),
  images: createGoogleImages(getClient),
  embeddings: createGoogleEmbeddings(getClient),
  videos: createGoogleVideos(getClient),
  listModels: (connection) => withTimeLimit(connection, (signal) => listModels(connection, signal)),
};

function generate(request: TextRequest, connection: ProviderConnection): Promise<TextResult> {
  return withTimeLimit(connection, async (signal) => {
    const { parameters, ignored } = googleRequest(request, connection.settings);
    const client = await getClient(connection);
    const received = await client.models.generateContent({
      ...parameters,
      config: { ...parameters.config, ...callOptions(connection, signal) },
    });
    const read = () => googleResponse(received, request, connection);
    return { ignored, ...(await keepUsage(() => googleReport(received), read)) };
  });
}

async function listModels(connection: ProviderConnection, signal: AbortSignal): Promise<ModelInfo[]> {
  const client = await getClient(connection);
  const models: ModelInfo[] = [];
  for await (const entry of await client.models.list({
    config: { pageSize: 1000, ...callOptions(connection, signal) },
  })) {
    const model = googleModel(entry);
    if (model !== null) models.push(model);
  }
  return models;
}

function callOptions(connection: ProviderConnection, abortSignal: AbortSignal) {
  const fetch = checkingFetch(withSignal(connection, abortSignal));
  return { abortSignal, httpOptions: { timeout: sdkTimeout(connection), fetch } };
}
