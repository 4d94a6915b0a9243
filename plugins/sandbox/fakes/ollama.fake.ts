import { asRecord, isRecord, trimTrailing } from '#plugin-api';
import { answer as makeAnswer, countTokens, pieces } from '../answer.ts';
import type { Answer } from '../answer.ts';
import { modelDimension } from '../embeddings/model-dimension.ts';
import { textVector } from '../embeddings/text-vector.ts';
import { digest } from '../random.ts';
import { jsonResponse, Refusal, readStops, readContentText } from '../fake.ts';
import type { FakeProvider, FakeResponse, FakeRequest } from '../fake.ts';
import { openAiDialect } from './chat-dialect.ts';
import type { ChatDialect } from './chat-dialect.ts';
import { createChatFake, released } from './chat-fake.ts';

/** Ollama's `/v1`: short usage, its own fingerprint, no key. */
const dialect: ChatDialect = {
  ...openAiDialect,
  label: 'Ollama',
  sentences: {
    no_model: () => ({ message: 'model is required', code: null }),
    no_messages: () => ({ message: "[] is too short - 'messages'", param: null, code: null }),
    unknown_model: ({ model }) => ({
      message: `model "${model ?? ''}" not found, try pulling it first`,
      type: 'api_error',
      code: null,
    }),
    unknown_path: () => ({ message: '404 page not found', type: 'api_error' }),
    rate_limited: () => ({
      message: 'server busy, please try again. maximum pending requests exceeded',
      type: 'api_error',
      code: null,
    }),
    server_error: () => ({ message: 'llama runner process has terminated', type: 'api_error' }),
  },
  id: (answer) => `chatcmpl-${String(parseInt(answer.fingerprint.slice(0, 4), 16) % 1000)}`,
  modelName: (asked) => asked,
  reasons: () => false,
  refusesMaxTokens: () => false,
  usage: (answer) => ({
    prompt_tokens: answer.inputTokens,
    completion_tokens: answer.outputTokens,
    total_tokens: answer.inputTokens + answer.outputTokens,
  }),
  message: () => ({}),
  choice: () => ({}),
  top: () => ({ system_fingerprint: 'fp_ollama' }),
  headers: () => ({}),
};

const models = ['llama3.2', 'qwen3', 'gemma3'];
const embeddingModels = ['nomic-embed-text', 'mxbai-embed-large', 'all-minilm'];

const nativeError = (status: number, message: string): FakeResponse => jsonResponse(status, { error: message });

/** `POST /api/chat`: streams JSON lines unless `stream` is false; durations in nanoseconds. */
function nativeChat(request: FakeRequest): FakeResponse {
  if (!isRecord(request.body)) throw new Refusal(nativeError(400, 'missing request body'));
  const { model, messages, stream, options, format } = request.body;
  if (typeof model !== 'string' || model === '') throw new Refusal(nativeError(400, 'model is required'));
  if (model.startsWith('missing-')) throw new Refusal(nativeError(404, `model '${model}' not found`));
  const turns = (Array.isArray(messages) ? messages : [])
    .filter(isRecord)
    .map(({ role, content }) => ({ role: String(role), content: readContentText(content) }));
  const settings = asRecord(options);
  const answer = makeAnswer({
    provider: dialect.label,
    model,
    system: turns
      .filter(({ role }) => role === 'system')
      .map(({ content }) => content)
      .join('\n\n'),
    messages: turns.filter(({ role }) => role !== 'system'),
    maxTokens:
      typeof settings['num_predict'] === 'number' && settings['num_predict'] > 0 ? settings['num_predict'] : undefined,
    stop: readStops(settings['stop']),
    seed: `${String(request.seed)}/${String(settings['seed'] ?? '')}`,
    json: format !== undefined && format !== '',
    reason: false,
  });
  const head = { model, created_at: new Date(request.now).toISOString() };
  const line = (content: string, rest: object): unknown => ({
    ...head,
    message: { role: 'assistant', content },
    ...rest,
  });
  if (stream === false) return jsonResponse(200, line(answer.text, nativeEnd(answer)));
  const lines = [...pieces(answer.text).map((piece) => line(piece, { done: false })), line('', nativeEnd(answer))];
  return {
    status: 200,
    headers: { 'content-type': 'application/x-ndjson' },
    chunks: lines.map((entry) => `${JSON.stringify(entry)}\n`),
  };
}

function nativeEnd(answer: Answer): object {
  return {
    done: true,
    done_reason: answer.finish === 'length' ? 'length' : 'stop',
    total_duration: 1_500_000_000,
    load_duration: 100_000_000,
    prompt_eval_count: answer.inputTokens,
    prompt_eval_duration: answer.inputTokens * 2_000_000,
    eval_count: answer.outputTokens,
    eval_duration: answer.outputTokens * 20_000_000,
  };
}

/** `POST /api/embed`: a text or several; an empty list of them gets an empty list of vectors. */
function nativeEmbed(request: FakeRequest): FakeResponse {
  if (!isRecord(request.body)) throw new Refusal(nativeError(400, 'missing request body'));
  const { model, input, dimensions } = request.body;
  if (typeof model !== 'string' || model === '') throw new Refusal(nativeError(400, 'model is required'));
  if (model.startsWith('missing-'))
    throw new Refusal(nativeError(404, `model "${model}" not found, try pulling it first`));
  const texts: readonly unknown[] = Array.isArray(input) ? input : [input ?? ''];
  if (!texts.every((text) => typeof text === 'string')) throw new Refusal(nativeError(400, 'invalid input type'));
  const dimension =
    typeof dimensions === 'number' && dimensions > 0
      ? Math.min(dimensions, modelDimension(model))
      : modelDimension(model);
  return jsonResponse(200, {
    model,
    embeddings: texts.filter((text) => text !== '').map((text) => Array.from(textVector(text, { dimension, model }))),
    total_duration: 15_000_000,
    load_duration: 1_000_000,
    prompt_eval_count: texts.reduce((sum, text) => sum + countTokens(text), 0),
  });
}

function tags(): FakeResponse {
  return jsonResponse(200, {
    models: [...models, ...embeddingModels].map((name) => ({
      name: `${name}:latest`,
      model: `${name}:latest`,
      modified_at: new Date(released * 1000).toISOString(),
      size: 2019393189,
      digest: digest('ollama', name),
      details: {
        parent_model: '',
        format: 'gguf',
        family: trimTrailing(name, '0123456789.'),
        families: [trimTrailing(name, '0123456789.')],
        parameter_size: '3.2B',
        quantization_level: 'Q4_K_M',
      },
    })),
  });
}

/** Ollama: the OpenAI-like interface and the native one. */
export const fakeOllama: FakeProvider = createChatFake({
  id: 'ollama',
  dialect,
  base: '/v1',
  models,
  embeddingModels,
  model: (id) => ({
    id: id.includes(':') ? id : `${id}:latest`,
    object: 'model',
    created: released,
    owned_by: 'library',
  }),
  refuse: () => null,
  routes: [
    { method: 'POST', path: /^\/api\/chat$/, handle: nativeChat },
    { method: 'POST', path: /^\/api\/embed$/, handle: nativeEmbed },
    { method: 'GET', path: /^\/api\/tags$/, handle: tags },
    { method: 'GET', path: /^\/api\/version$/, handle: () => jsonResponse(200, { version: '0.12.6' }) },
  ],
});
