import { callGoogle, googleAddress } from './google/google-client.ts';
import { googleEmbeddingCapability } from './google/google-embeddings.ts';
import { googleImages } from './google/google-images.ts';
import { geminiVersion, googleSupports } from './google/google-models.ts';
import { googleRequest, googleRules } from './google/google-request.ts';
import { googleModel, googleReport, googleResponse } from './google/google-response.ts';
import { createGoogleStream } from './google/google-stream.ts';
import { googleVideos } from './google/google-videos.ts';
import { createTextCapability } from './unsupported-params.ts';
import type { ModelInfo, Provider, ProviderConnection, TextCapability, TextRequest, TextResult } from './provider.ts';
import { keepUsage } from './provider-errors.ts';
import { providerFields } from './settings-fields.ts';
import { readEvents } from './streams/read-events.ts';
import { withTimeLimit } from './time-limit.ts';

const stream: NonNullable<TextCapability['stream']> = (request, connection, onText) => {
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

/** Google's generateContent (D9), using the package `@google/genai`. */
export const provider: Provider = {
  id: 'google',
  label: 'Google',
  load: () => import('@google/genai'),
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
  images: googleImages,
  embeddings: googleEmbeddingCapability,
  videos: googleVideos,
  listModels: (connection) => withTimeLimit(connection, (signal) => listModels(connection, signal)),
};

function generate(request: TextRequest, connection: ProviderConnection): Promise<TextResult> {
  return withTimeLimit(connection, async (signal) => {
    const { parameters, ignored } = googleRequest(request, connection.settings);
    const { result: received } = await callGoogle(connection, signal, (client, options) =>
      client.models.generateContent({ ...parameters, config: { ...parameters.config, ...options } }),
    );
    const read = () => googleResponse(received, request, connection);
    return { ignored, ...(await keepUsage(() => googleReport(received), read)) };
  });
}

async function listModels(connection: ProviderConnection, signal: AbortSignal): Promise<ModelInfo[]> {
  const { result } = await callGoogle(connection, signal, async (client, options) => {
    const models: (ModelInfo | null)[] = [];
    const pages = await client.models.list({ config: { pageSize: 1000, ...options } });
    for await (const entry of pages) models.push(googleModel(entry));
    return models;
  });
  return result.filter((model) => model !== null);
}
