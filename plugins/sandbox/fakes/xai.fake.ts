import type { FakeProvider } from '../fake.ts';
import { openAiDialect, openAiUsage } from './chat-dialect.ts';
import type { ChatDialect } from './chat-dialect.ts';
import { createChatFake, released } from './chat-fake.ts';
import { xAiImageRules } from './openai-image-rules.ts';
import type { ImagesDialect } from './openai-images.ts';

const invalidArgument = 'Client specified an invalid argument';

/** xAI: errors are `{code: sentence, error: sentence}`, a wrong key is a 400, reasoning comes apart from the counted answer. */
const dialect: ChatDialect & { readonly images: ImagesDialect } = {
  ...openAiDialect,
  label: 'xAI',
  // A cost in units of a ten-thousand-millionth of a dollar.
  images: {
    rules: xAiImageRules,
    image: () => ({ mime_type: 'image/png' }),
    top: () => ({ usage: { cost_in_usd_ticks: 0 } }),
  },
  sentences: {
    no_key: () => ({
      code: 'Unauthenticated',
      message: 'No API key was given. Send it in the header Authorization as Bearer token.',
    }),
    bad_key: ({ key }) => ({
      status: 400,
      message:
        `Incorrect API key provided: ${(key ?? '').slice(0, 2)}***${(key ?? '').slice(-2)}. You can obtain ` +
        `an API key from https://console.x.ai.`,
    }),
    no_model: () => ({ message: 'Failed to deserialize the JSON body into the target type: missing field `model`' }),
    no_messages: () => ({
      message: 'Failed to deserialize the JSON body into the target type: missing field `messages`',
    }),
    unknown_model: ({ model }) => ({
      code: 'Some requested entity was not found',
      message:
        `The model ${model ?? ''} does not exist or your team sandbox does not have access to it. Please ` +
        `ensure you're using the correct API key.`,
    }),
    unknown_path: () => ({
      code: 'Some requested entity was not found',
      message:
        'No handler found on route. Please double check your URL and consult https://api.x.ai/docs for more information.',
    }),
    rate_limited: ({ model }) => ({
      code: 'Some resource has been exhausted',
      message: `Too many requests for team sandbox and model ${model ?? ''}.`,
    }),
    server_error: () => ({
      code: 'Internal error',
      message: 'Service temporarily unavailable. The model did not respond to this request.',
    }),
  },
  shape: ({ code, message }) => ({
    code: code !== null && code.includes(' ') ? code : code === 'Unauthenticated' ? code : invalidArgument,
    error: message,
  }),
  id: (answer) => answer.fingerprint.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
  modelName: (asked) => (asked === 'grok-4' ? 'grok-4-0709' : asked),
  reasons: (model) => /^grok-(?:3-mini|4)/.test(model) && !model.includes('non-reasoning'),
  refusesMaxTokens: () => false,
  // Reasoning tokens are counted in the total, not in completion_tokens.
  usage: (answer) => ({
    ...openAiUsage(answer),
    completion_tokens: answer.outputTokens - answer.reasoningTokens,
    prompt_tokens_details: { text_tokens: answer.inputTokens, audio_tokens: 0, image_tokens: 0, cached_tokens: 0 },
    num_sources_used: 0,
  }),
  message: () => ({ refusal: null }),
  reasoningMember: 'reasoning_content',
  choice: () => ({}),
  top: () => ({ system_fingerprint: 'fp_156d35dcaa' }),
  alwaysStreamsUsage: true,
  headers: (answer) => ({ 'x-request-id': answer.fingerprint.slice(32) }),
};

export const fakeXAi: FakeProvider = createChatFake({
  id: 'xai',
  dialect,
  base: '/v1',
  models: ['grok-4.5', 'grok-4-fast-non-reasoning', 'grok-3-mini'],
  imageModels: ['grok-imagine-image', 'grok-2-image-1212'],
  model: (id) => ({ id, object: 'model', created: released, owned_by: 'xai' }),
});
