import { isRecord } from '#plugin-api';
import type { FakeProvider } from '../fake.ts';
import { openAiDialect } from './chat-dialect.ts';
import type { ChatDialect } from './chat-dialect.ts';
import { maskKey } from './chat-problems.ts';
import { createChatFake } from './chat-fake.ts';

/** DeepSeek: `reasoning_content`, cache hits and misses in the usage, 400 for a model it does not know. */
const dialect: ChatDialect = {
  ...openAiDialect,
  label: 'DeepSeek',
  sentences: {
    no_key: () => ({
      message: 'Authentication Fails (auth header format should be Bearer sk-...)',
      type: 'authentication_error',
      code: 'invalid_request_error',
    }),
    bad_key: ({ key }) => ({
      message: `Authentication Fails, Your api key: ${maskKey(key ?? '')} is invalid`,
      type: 'authentication_error',
      code: 'invalid_request_error',
    }),
    no_model: () => ({
      message: 'Failed to deserialize the JSON body into the target type: missing field `model`',
      code: 'invalid_request_error',
    }),
    no_messages: () => ({
      message: 'Failed to deserialize the JSON body into the target type: missing field `messages`',
      param: null,
      code: 'invalid_request_error',
    }),
    unknown_model: () => ({ message: 'Model Not Exist', status: 400, code: 'invalid_request_error' }),
    rate_limited: () => ({ message: 'Rate limit reached', type: 'rate_limit_error', code: 'rate_limit_error' }),
    server_error: () => ({
      message: 'Internal server error',
      type: 'internal_server_error',
      code: 'internal_server_error',
    }),
  },
  id: (answer) => answer.fingerprint.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
  modelName: (asked) => asked,
  // Its models think unless thinking is disabled.
  reasons: (model, { thinking }) => !model.includes('chat') && !(isRecord(thinking) && thinking['type'] === 'disabled'),
  refusesMaxTokens: () => false,
  usage: (answer) => ({
    prompt_tokens: answer.inputTokens,
    completion_tokens: answer.outputTokens,
    total_tokens: answer.inputTokens + answer.outputTokens,
    prompt_tokens_details: { cached_tokens: 0 },
    ...(answer.reasoningTokens > 0 && { completion_tokens_details: { reasoning_tokens: answer.reasoningTokens } }),
    prompt_cache_hit_tokens: 0,
    prompt_cache_miss_tokens: answer.inputTokens,
  }),
  message: () => ({}),
  reasoningMember: 'reasoning_content',
  top: () => ({ system_fingerprint: 'fp_sandbox_prod0820_fp8_kvcache' }),
  headers: () => ({}),
};

export const fakeDeepSeek: FakeProvider = createChatFake({
  id: 'deepseek',
  dialect,
  base: '/v1',
  models: ['deepseek-flash', 'deepseek-chat', 'deepseek-reasoner'],
  model: (id) => ({ id, object: 'model', owned_by: 'deepseek' }),
});
