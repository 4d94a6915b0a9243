import { bearer, jsonResponse, sandboxKey } from '../fake.ts';
import type { FakeProvider, FakeResponse, FakeRequest } from '../fake.ts';
import { chatCompletion } from './chat-completions.ts';
import { openAiDialect } from './chat-dialect.ts';
import type { ChatDialect } from './chat-dialect.ts';
import { openAiShape, problemReply } from './chat-problems.ts';
import { chatErrors, defaultModels, released } from './chat-fake.ts';
import { embeddings } from './openai-embeddings.ts';
import { imageEdits } from './openai-image-edits.ts';
import { imageGenerations } from './openai-images.ts';
import type { ImagesDialect } from './openai-images.ts';

const safe = { filtered: false, severity: 'safe' };
const filterResults = { hate: safe, self_harm: safe, sexual: safe, violence: safe };
const promptFilterResults = [
  { prompt_index: 0, content_filter_results: { ...filterResults, jailbreak: { filtered: false, detected: false } } },
];

/** Azure: results of the content filter, errors of the gateway with a code and a message alone, those of the model in OpenAI's shape. */
const dialect: ChatDialect & { readonly images: ImagesDialect } = {
  ...openAiDialect,
  label: 'Azure',
  images: {
    image: () => ({
      content_filter_results: filterResults,
      prompt_filter_results: { ...filterResults, profanity: { detected: false, filtered: false } },
    }),
  },
  sentences: {
    no_key: () => ({ type: 'gateway', code: '401', message: accessDenied }),
    bad_key: () => ({ type: 'gateway', code: '401', message: accessDenied }),
    unknown_model: () => ({
      type: 'gateway',
      code: 'DeploymentNotFound',
      message:
        'The API deployment for this resource does not exist. If you created the deployment within the last ' +
        '5 minutes, please wait a moment and try again.',
    }),
    unknown_path: () => ({ type: 'gateway', code: '404', message: 'Resource not found' }),
    rate_limited: ({ retryAfter }) => ({
      type: 'gateway',
      code: '429',
      message:
        `Requests to the ChatCompletions_Create Operation have exceeded call rate limit of your current ` +
        `pricing tier. Please retry after ${String(retryAfter ?? 1)} seconds.`,
    }),
    server_error: () => ({
      type: 'gateway',
      code: 'InternalServerError',
      message: 'The server had an error while processing your request. Sorry about that!',
    }),
  },
  shape: (problem) =>
    problem.type === 'gateway' ? { error: { code: problem.code, message: problem.message } } : openAiShape(problem),
  choice: () => ({ logprobs: null, content_filter_results: filterResults }),
  top: (_, chat) => ({
    system_fingerprint: 'fp_b705f0c291',
    ...(!chat.stream && { prompt_filter_results: promptFilterResults }),
  }),
  preamble: [
    `data: ${JSON.stringify({ choices: [], created: 0, id: '', model: '', object: '', prompt_filter_results: promptFilterResults })}\n\n`,
  ],
  headers: (answer) => ({ 'apim-request-id': answer.fingerprint.slice(32), 'x-ms-region': 'Sandbox' }),
};

const accessDenied =
  'Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid ' +
  'key for an active subscription and use a correct regional API endpoint for your resource.';

const models = ['gpt-5.4-mini', 'gpt-4.1-mini', 'gpt-4o-mini'];
const embeddingModels = ['text-embedding-3-small', 'text-embedding-3-large'];
const imageModels = ['dall-e-3', 'gpt-image-1'];

function listModels(): FakeResponse {
  const data = [...models, ...embeddingModels, ...imageModels].map((id) => ({
    id,
    object: 'model',
    created_at: released,
    status: 'succeeded',
    lifecycle_status: 'generally-available',
    capabilities: {
      fine_tune: false,
      inference: true,
      completion: false,
      chat_completion: models.includes(id),
      embeddings: embeddingModels.includes(id),
    },
  }));
  return jsonResponse(200, { object: 'list', data });
}

/** The classic interface is not there without a dated `api-version`. */
function classic(request: FakeRequest, handle: () => FakeResponse): FakeResponse {
  return /^\d{4}-\d{2}-\d{2}/.test(request.query.get('api-version') ?? '') ? handle() : errors.unknownPath(request);
}

const errors = chatErrors(dialect);

/** Both interfaces of Azure OpenAI: classic (deployment in the address, dated api-version) and v1. */
export const fakeAzure: FakeProvider = {
  id: 'azure',
  label: dialect.label,
  models,
  embeddingModels,
  imageModels,
  settings: (root, saved) => ({
    api_key: sandboxKey,
    base_url: root,
    api_version: saved['api_version'] ?? 'v1',
    ...defaultModels({ models, embeddingModels, imageModels }),
  }),
  refuse: ({ headers }) => {
    const key = headers['api-key'];
    if (key === sandboxKey || (key === undefined && bearer(headers) === sandboxKey)) return null;
    return problemReply(dialect, key === undefined ? 'no_key' : 'bad_key');
  },
  errors,
  routes: [
    {
      method: 'POST',
      path: /^\/openai\/v1\/chat\/completions$/,
      handle: (request) => chatCompletion(dialect, request),
    },
    { method: 'POST', path: /^\/openai\/v1\/embeddings$/, handle: (request) => embeddings(dialect, request) },
    {
      method: 'POST',
      path: /^\/openai\/v1\/images\/generations$/,
      handle: (request) => imageGenerations(dialect, request),
    },
    {
      method: 'POST',
      path: /^\/openai\/deployments\/(?<deployment>[^/]+)\/embeddings$/,
      handle: (request) => classic(request, () => embeddings(dialect, request, request.params['deployment'])),
    },
    { method: 'POST', path: /^\/openai\/v1\/images\/edits$/, handle: (request) => imageEdits(dialect, request) },
    {
      method: 'POST',
      path: /^\/openai\/deployments\/(?<deployment>[^/]+)\/images\/edits$/,
      handle: (request) => classic(request, () => imageEdits(dialect, request, request.params['deployment'])),
    },
    {
      method: 'POST',
      path: /^\/openai\/deployments\/(?<deployment>[^/]+)\/images\/generations$/,
      handle: (request) => classic(request, () => imageGenerations(dialect, request, request.params['deployment'])),
    },
    { method: 'GET', path: /^\/openai\/v1\/models$/, handle: listModels },
    {
      method: 'POST',
      path: /^\/openai\/deployments\/(?<deployment>[^/]+)\/chat\/completions$/,
      handle: (request) => classic(request, () => chatCompletion(dialect, request, request.params['deployment'])),
    },
    { method: 'GET', path: /^\/openai\/models$/, handle: (request) => classic(request, listModels) },
  ],
};
