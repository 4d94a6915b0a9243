import { isRecord } from '#plugin-api';
import { jsonResponse } from '../fake.ts';
import type { FakeProvider, FakeResponse, FakeRequest } from '../fake.ts';
import { openAiDialect, openAiUsage } from './chat-dialect.ts';
import type { ChatDialect } from './chat-dialect.ts';
import { createChatFake, released } from './chat-fake.ts';
import type { EmbeddingsDialect } from './openai-embeddings.ts';
import { drawsImages, routedCompletion } from './openrouter-images.ts';

/** OpenRouter: numeric error codes, the upstream's name in `provider`, its reasons in `native_finish_reason`, cost in the usage. */
const dialect: ChatDialect & { readonly embeddings: EmbeddingsDialect } = {
  ...openAiDialect,
  label: 'OpenRouter',
  embeddings: {
    usage: (tokens) => ({ prompt_tokens: tokens, total_tokens: tokens, cost: 0 }),
    top: () => ({ provider: 'Sandbox' }),
  },
  sentences: {
    no_key: () => ({ message: 'No auth credentials found' }),
    bad_key: () => ({ message: 'User not found.' }),
    no_model: () => ({ message: 'No models provided' }),
    no_messages: () => ({ message: 'Input required: specify "prompt" or "messages"' }),
    unknown_model: ({ model }) => ({ message: `No endpoints found for ${model ?? ''}.` }),
    rate_limited: () => ({ message: 'Rate limit exceeded: free-models-per-min.' }),
    server_error: () => ({ message: 'Internal Server Error' }),
  },
  shape: ({ status, message }) => ({ error: { message, code: status } }),
  id: (answer, created) => `gen-${String(created)}-${answer.fingerprint.slice(0, 20)}`,
  // The router answers with the model it chose.
  modelName: (asked) => (asked === 'openrouter/auto' ? 'openai/gpt-5.4-mini' : asked),
  reasons: (model, body) =>
    /r1|reason|think/.test(model) ||
    (isRecord(body['reasoning']) && body['reasoning']['enabled'] !== false && body['reasoning']['effort'] !== 'none'),
  refusesMaxTokens: () => false,
  usage: (answer) => ({
    ...openAiUsage(answer),
    cost: 0,
    is_byok: false,
    cost_details: { upstream_inference_cost: null },
  }),
  message: (answer) => ({ refusal: null, ...(answer.reasoning === '' && { reasoning: null }) }),
  reasoningMember: 'reasoning',
  choice: (answer) => ({ logprobs: null, native_finish_reason: answer.finish === 'length' ? 'length' : 'stop' }),
  top: () => ({ provider: 'Sandbox' }),
  alwaysStreamsUsage: true,
  preamble: [': OPENROUTER PROCESSING\n\n'],
  headers: () => ({}),
};

const embeddingModels = ['openai/text-embedding-3-small', 'google/gemini-embedding-001', 'qwen/qwen3-embedding-8b'];

/** What a model of that name gives. */
function outputsOf(id: string): string[] {
  if (embeddingModels.includes(id)) return ['embeddings'];
  if (!drawsImages(id)) return ['text'];
  return id.startsWith('google/') ? ['image', 'text'] : ['image'];
}

const model = (id: string): Readonly<Record<string, unknown>> => ({
  id,
  canonical_slug: id,
  name: `${id} (sandbox)`,
  created: released,
  description: 'Fake on this machine.',
  context_length: 128000,
  architecture: {
    modality: `text->${outputsOf(id).join('+')}`,
    input_modalities: ['text'],
    output_modalities: outputsOf(id),
    tokenizer: 'Other',
    instruct_type: null,
  },
  pricing: { prompt: '0', completion: '0', request: '0', image: '0' },
  top_provider: { context_length: 128000, max_completion_tokens: 16384, is_moderated: false },
  per_request_limits: null,
  supported_parameters: ['max_tokens', 'temperature', 'top_p', 'stop', 'seed'],
});

const fake = createChatFake({
  id: 'openrouter',
  dialect,
  base: '/api/v1',
  models: ['openrouter/auto', 'openai/gpt-5.4-mini', 'anthropic/claude-sonnet-5.5', 'deepseek/deepseek-r1'],
  embeddingModels,
  imageModels: ['google/gemini-2.5-flash-image', 'black-forest-labs/flux.2-pro'],
  list: { object: undefined },
  model,
  // Whose key it is and what it may spend: the one call besides completions that needs the key.
  routes: [
    {
      method: 'GET',
      path: /^\/api\/v1\/(?:auth\/)?key$/,
      handle: () => ({
        status: 200,
        headers: { 'content-type': 'application/json' },
        chunks: [
          JSON.stringify({
            data: {
              label: 'sandbox',
              limit: null,
              limit_remaining: null,
              usage: 0,
              is_free_tier: true,
              is_provisioning_key: false,
            },
          }),
        ],
      }),
    },
  ],
});

/** The lists of models, which take `output_modalities`: of all kinds unless some are named. */
function listModels(request: FakeRequest): FakeResponse {
  const wanted = request.path.includes('/embeddings/')
    ? 'embeddings'
    : (request.query.get('output_modalities') ?? 'all');
  const ids = [...fake.models, ...embeddingModels, ...(fake.imageModels ?? [])];
  return jsonResponse(200, {
    data: ids
      .filter((id) => wanted === 'all' || outputsOf(id).some((output) => wanted.split(',').includes(output)))
      .map(model),
  });
}

/** The lists of models are open to everyone, so a wrong key is not noticed there. */
export const fakeOpenRouter: FakeProvider = {
  ...fake,
  refuse: (request) => (/^\/api\/v1\/(?:embeddings\/)?models(?:\/|$)/.test(request.path) ? null : fake.refuse(request)),
  routes: [
    { method: 'POST', path: /^\/api\/v1\/chat\/completions$/, handle: (request) => routedCompletion(dialect, request) },
    { method: 'GET', path: /^\/api\/v1\/(?:embeddings\/)?models$/, handle: listModels },
    ...fake.routes,
  ],
};
