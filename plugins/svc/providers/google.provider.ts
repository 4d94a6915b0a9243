import { checkingFetch, createGoogleClients, googleAddress } from './google/google-client.ts';
import { createGoogleEmbeddings } from './google/google-embeddings.ts';
import { createGoogleImages } from './google/google-images.ts';
import { googleRequest, googleRules } from './google/google-request.ts';
import { googleModel, googleResponse } from './google/google-response.ts';
import { learningRefusals } from './learned-refusals.ts';
import type { ModelInfo, Provider, ProviderConnection, TextRequest, TextResult } from './provider.ts';
import { apiKeyField, baseUrlField, modelField } from './settings-fields.ts';
import { sdkTimeout, withTimeLimit } from './time-limit.ts';

const clientOf = createGoogleClients();

/** Google by generateContent (D9), by the package `@google/genai`. */
export const provider: Provider = {
  id: 'google',
  label: 'Google',
  required: ['api_key'],
  settings: {
    type: 'object',
    properties: {
      api_key: apiKeyField('From aistudio.google.com, under API keys.'),
      base_url: baseUrlField(googleAddress, 'Without a version.'),
      model: modelField('Text model', 'gemini-3.5-flash'),
      embedding_model: modelField('Embedding model', 'gemini-embedding-001'),
      image_model: modelField('Image model', 'gemini-3.1-flash-image'),
    },
  },
  text: { params: googleRules.names, generate: learningRefusals(googleRules.names, generate) },
  images: createGoogleImages(clientOf),
  embeddings: createGoogleEmbeddings(clientOf),
  listModels: (connection) => withTimeLimit(connection, (signal) => listModels(connection, signal)),
};

function generate(request: TextRequest, connection: ProviderConnection): Promise<TextResult> {
  return withTimeLimit(connection, async (signal) => {
    const { parameters, ignored } = googleRequest(request, connection.settings);
    const client = await clientOf(connection);
    const answer = await client.models.generateContent({ ...parameters, config: { ...parameters.config, ...callOptions(connection, signal) } });
    return { ...googleResponse(answer, request, connection), ignored };
  });
}

async function listModels(connection: ProviderConnection, signal: AbortSignal): Promise<ModelInfo[]> {
  const client = await clientOf(connection);
  const models: ModelInfo[] = [];
  for await (const entry of await client.models.list({ config: { pageSize: 1000, ...callOptions(connection, signal) } })) {
    const model = googleModel(entry);
    if (model !== null) models.push(model);
  }
  return models;
}

function callOptions(connection: ProviderConnection, abortSignal: AbortSignal) {
  return { abortSignal, httpOptions: { timeout: sdkTimeout(connection), fetch: checkingFetch(connection) } };
}
