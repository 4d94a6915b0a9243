import { answer as makeAnswer, pieces } from '../answer.ts';
import type { Answer } from '../answer.ts';
import { jsonResponse, Refusal, sandboxKey, streamResponse } from '../fake.ts';
import type { FakeProvider, FakeResponse, FakeRequest } from '../fake.ts';
import { defaultModels } from './chat-fake.ts';
import { googleEmbeddingRoutes } from './google-embeddings.ts';
import { generateImage, googleImageRoutes, wantsImage } from './google-images.ts';
import { googleVideoModels, googleVideoRoutes } from './google-videos.ts';
import { googleError, readGenerateRequest, unknownModel } from './google-request.ts';

function usage(answer: Answer): object {
  return {
    promptTokenCount: answer.inputTokens,
    candidatesTokenCount: answer.outputTokens,
    totalTokenCount: answer.inputTokens + answer.outputTokens,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: answer.inputTokens }],
  };
}

/** One GenerateContentResponse: the whole answer, or a piece of the stream. */
function response(answer: Answer, model: string, piece: { readonly text: string; readonly last: boolean }): object {
  return {
    candidates: [
      {
        content: { ...contentParts(answer, piece), role: 'model' },
        ...(piece.last && { finishReason: answer.finish === 'length' ? 'MAX_TOKENS' : 'STOP' }),
        index: 0,
      },
    ],
    usageMetadata: usage(answer),
    modelVersion: model,
    responseId: answer.fingerprint.slice(0, 22),
  };
}

function contentParts({ call }: Answer, { text, last }: { readonly text: string; readonly last: boolean }): object {
  const parts = [
    ...(text === '' ? [] : [{ text }]),
    ...(last && call !== null
      ? [{ functionCall: { name: call.name, args: call.input }, thoughtSignature: 'c2lnbmF0dXJl' }]
      : []),
  ];
  return parts.length === 0 ? {} : { parts };
}

function generateContent(request: FakeRequest): FakeResponse {
  const question = readGenerateRequest(request);
  if (wantsImage(request)) return generateImage(request, question.messages.at(-1)?.content ?? '');
  const answer = makeAnswer(question);
  return jsonResponse(200, response(answer, question.model, { text: answer.text, last: true }));
}

/** Server-sent events with `alt=sse`, else one JSON array that arrives in parts. */
function streamGenerateContent(request: FakeRequest): FakeResponse {
  const question = readGenerateRequest(request);
  const answer = makeAnswer(question);
  const parts = pieces(answer.text);
  const responses = (parts.length === 0 ? [''] : parts).map((text, index, all) =>
    JSON.stringify(response(answer, question.model, { text, last: index === all.length - 1 })),
  );
  if (request.query.get('alt') === 'sse') return streamResponse(responses.map((json) => `data: ${json}\r\n\r\n`));
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  return {
    status: 200,
    headers,
    chunks: responses.map(
      (json, index) => `${index === 0 ? '[' : ','}${json}${index === responses.length - 1 ? ']' : ''}`,
    ),
  };
}

const models = ['gemini-3.5-flash', 'gemini-2.5-pro', 'gemini-2.5-flash'];
const embeddingModels = ['gemini-embedding-001'];
const imageModels = ['gemini-2.5-flash-image', 'gemini-3-pro-image', 'imagen-4.0-generate-001'];

/** What a model of that name can be asked for. */
function methodsOf(id: string): string[] {
  if (id.startsWith('imagen')) return ['predict'];
  if (id.startsWith('veo')) return ['predictLongRunning'];
  return embeddingModels.includes(id)
    ? ['embedContent', 'countTextTokens', 'countTokens']
    : ['generateContent', 'countTokens'];
}

const model = (id: string): object => ({
  name: `models/${id}`,
  baseModelId: id,
  version: '001',
  displayName: `${id} (sandbox)`,
  description: 'Fake on this machine.',
  inputTokenLimit: 1048576,
  outputTokenLimit: 65536,
  supportedGenerationMethods: methodsOf(id),
  temperature: 1,
  topP: 0.95,
  topK: 64,
  maxTemperature: 2,
});

/** A wrong key is a 400 with the reason API_KEY_INVALID, none at all a 403. */
function refuse({ headers, query }: FakeRequest): FakeResponse | null {
  const key = headers['x-goog-api-key'] ?? query.get('key') ?? '';
  if (key === sandboxKey) return null;
  if (key === '') {
    return googleError({
      code: 403,
      status: 'PERMISSION_DENIED',
      message:
        "Method doesn't allow unregistered callers (callers without established identity). Please use API " +
        'Key or other form of API consumer identity to call this API.',
    });
  }
  const message = 'API key not valid. Please pass a valid API key.';
  return googleError({
    code: 400,
    status: 'INVALID_ARGUMENT',
    message,
    details: [
      {
        '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
        reason: 'API_KEY_INVALID',
        domain: 'googleapis.com',
        metadata: { service: 'generativelanguage.googleapis.com' },
      },
      { '@type': 'type.googleapis.com/google.rpc.LocalizedMessage', locale: 'en-US', message },
    ],
  });
}

/** Google's generateContent, whole and streamed. */
export const fakeGoogle: FakeProvider = {
  id: 'google',
  label: 'Google',
  models,
  embeddingModels,
  imageModels,
  settings: (root) => ({
    api_key: sandboxKey,
    base_url: root,
    ...defaultModels({ models, embeddingModels, imageModels }),
    video_model: googleVideoModels[0] ?? '',
  }),
  refuse,
  errors: {
    unknownPath: () => googleError({ code: 404, status: 'NOT_FOUND', message: 'Requested entity was not found.' }),
    badJson: () =>
      googleError({
        code: 400,
        status: 'INVALID_ARGUMENT',
        message: 'Invalid JSON payload received. Unexpected token.',
      }),
    tooLarge: () =>
      googleError({ code: 413, status: 'INVALID_ARGUMENT', message: 'Request payload size exceeds the limit.' }),
    rateLimited: (_, retryAfter) => {
      const reply = googleError({
        code: 429,
        status: 'RESOURCE_EXHAUSTED',
        message: 'You exceeded your current quota, please check your plan and billing details.',
        details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${String(retryAfter)}s` }],
      });
      return { ...reply, headers: { ...reply.headers, 'retry-after': String(retryAfter) } };
    },
    serverError: () =>
      googleError({
        code: 500,
        status: 'INTERNAL',
        message:
          'An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting',
      }),
  },
  routes: [
    {
      method: 'POST',
      path: /^\/(?<version>v1|v1beta)\/models\/(?<model>[^/:]+):generateContent$/,
      handle: generateContent,
    },
    {
      method: 'POST',
      path: /^\/(?<version>v1|v1beta)\/models\/(?<model>[^/:]+):streamGenerateContent$/,
      handle: streamGenerateContent,
    },
    ...googleEmbeddingRoutes,
    ...googleImageRoutes,
    ...googleVideoRoutes,
    {
      method: 'GET',
      path: /^\/(?:v1|v1beta)\/models$/,
      handle: () =>
        jsonResponse(200, { models: [...models, ...embeddingModels, ...imageModels, ...googleVideoModels].map(model) }),
    },
    {
      method: 'GET',
      path: /^\/(?<version>v1|v1beta)\/models\/(?<model>[^/:]+)$/,
      handle: ({ params: { model: id = '', version = 'v1beta' } }) => {
        if (id.startsWith('missing-')) throw new Refusal(unknownModel(id, version));
        return jsonResponse(200, model(id));
      },
    },
  ],
};
