import { expect } from 'chai';
import OpenAI, { APIError } from 'openai';
import { startService, restKey, type Service } from '../contract/service.ts';
import type { UpstreamResponse } from '../contract/upstream.ts';

const quotaFailure = (quotaId: string, retryDelay: string, quotaValue = '50') => ({
  error: {
    code: 429,
    status: 'RESOURCE_EXHAUSTED',
    message: 'You exceeded your current quota, please check your plan and billing details.',
    details: [
      { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaId, quotaValue }] },
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay },
    ],
  },
});

type Case = readonly [provider: string, title: string, status: number, body: object];

/** What vendors answer for an account without credits or quota. */
const usedUp: readonly Case[] = [
  [
    'openai',
    'OpenAI',
    429,
    {
      error: {
        message: 'You exceeded your current quota, please check your plan and billing details.',
        type: 'insufficient_quota',
        param: null,
        code: 'insufficient_quota',
      },
    },
  ],
  [
    'openai',
    'OpenAI, over its hard limit',
    400,
    {
      error: {
        message: 'Billing hard limit has been reached',
        type: 'invalid_request_error',
        code: 'billing_hard_limit_reached',
      },
    },
  ],
  [
    'azure',
    'Azure',
    403,
    { error: { code: '403', message: 'Out of call volume quota. Quota will be replenished in 2.01:17:28.' } },
  ],
  ['azure', 'Azure, as OpenAI', 429, { error: { code: 'insufficient_quota', message: 'Quota exceeded.' } }],
  [
    'claude',
    'Claude',
    400,
    {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade.',
      },
    },
  ],
  [
    'claude',
    'Claude, over its own limit',
    400,
    {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'You have reached your specified API usage limits. You will regain access on 2026-12-01.',
      },
    },
  ],
  [
    'claude',
    'Claude, its billing',
    402,
    { type: 'error', error: { type: 'billing_error', message: 'Payment failed.' } },
  ],
  ['google', 'Google, per day', 429, quotaFailure('GenerateRequestsPerDayPerProjectPerModel-FreeTier', '31s')],
  [
    'google',
    'Google, a model that it does not have',
    429,
    quotaFailure('GenerateRequestsPerMinutePerProjectPerModel-FreeTier', '31s', '0'),
  ],
  [
    'google',
    'Google, prepaid',
    429,
    {
      error: {
        code: 429,
        status: 'RESOURCE_EXHAUSTED',
        message: 'Your prepayment credits are depleted. Please go to AI Studio.',
      },
    },
  ],
  [
    'openrouter',
    'OpenRouter',
    402,
    { error: { code: 402, message: 'Insufficient credits. Add more using https://openrouter.ai/credits' } },
  ],
  ['openrouter', 'OpenRouter, its key', 403, { error: { code: 403, message: 'Key limit exceeded (total limit).' } }],
  [
    'deepseek',
    'DeepSeek',
    402,
    { error: { message: 'Insufficient Balance', type: 'unknown_error', param: null, code: 'invalid_request_error' } },
  ],
  [
    'xai',
    'xAI',
    403,
    {
      code: 'The caller does not have permission to execute the specified operation',
      error: "Your newly created team doesn't have any credits yet. You can purchase credits on https://console.x.ai.",
    },
  ],
  [
    'xai',
    'xAI, its limit',
    429,
    {
      code: 'Some resource has been exhausted',
      error: 'Your team has either used all available credits or reached its monthly spending limit.',
    },
  ],
  ['ollama', 'Mistral', 401, { message: 'Inactive subscription or usage limit reached', request_id: 'r' }],
  [
    'ollama',
    'Hugging Face',
    402,
    { error: 'You have exceeded your monthly included credits for Inference Providers. Subscribe to PRO.' },
  ],
  ['ollama', 'Ollama', 429, { error: 'you have reached your weekly usage limit, upgrade for higher limits' }],
  [
    'ollama',
    'Moonshot',
    429,
    { error: { message: 'Your account is suspended.', type: 'exceeded_current_quota_error' } },
  ],
];

/** Limits of the rate, which pass. */
const passing: readonly Case[] = [
  [
    'openai',
    'OpenAI',
    429,
    { error: { message: 'Rate limit reached', type: 'requests', code: 'rate_limit_exceeded' } },
  ],
  [
    'claude',
    'Claude',
    429,
    { type: 'error', error: { type: 'rate_limit_error', message: 'This request would exceed your rate limit.' } },
  ],
  ['google', 'Google, per minute', 429, quotaFailure('GenerateRequestsPerMinutePerProjectPerModel-FreeTier', '31s')],
  ['ollama', 'Mistral', 429, { message: 'Requests rate limit exceeded', code: '1300' }],
];

const messages = [{ role: 'user' as const, content: 'Hello' }];

describe('accounts without credits, at the OpenAI-compatible routes', () => {
  let service: Service;
  let client: OpenAI;
  before(async () => {
    service = await startService();
    const { host, upstream } = service;
    host.hooks.addFilter('svc_provider_settings', (settings: object, id: string) => {
      const isRoot = ['claude', 'google', 'azure'].includes(id);
      return {
        ...settings,
        api_key: 'test-key-0123456789',
        base_url: isRoot ? upstream.url.slice(0, -3) : upstream.url,
      };
    });
    client = new OpenAI({ apiKey: restKey, baseURL: `${host.url}/wp-json/svc-openai/v1`, maxRetries: 0 });
  });
  after(() => service.stop());

  async function failure(provider: string, stream: boolean): Promise<APIError> {
    try {
      const answer = await client.chat.completions.create({ model: `${provider}/m`, messages, stream });
      if (Symbol.asyncIterator in answer) for await (const _chunk of answer);
    } catch (error) {
      if (error instanceof APIError) return error;
      throw error;
    }
    throw new Error('It did not fail.');
  }
  const failing = ([, , status, body]: Case, headers: UpstreamResponse['headers'] = {}) =>
    service.upstream.answer({ status, body, headers: { ...headers } });

  for (const one of usedUp)
    it(`have OpenAI’s insufficient_quota, and no hint to retry: ${one[1]}, ${one[2]}`, async () => {
      const [provider, , status, body] = one;
      const sentence = /"(?:message|error)":"([^"]{10,40})/.exec(JSON.stringify(body))?.[1] ?? '';
      for (const stream of [false, true]) {
        failing(one, { 'retry-after': '20' });
        const error = await failure(provider, stream);
        expect(error).to.include({ status: 429, code: 'insufficient_quota', type: 'insufficient_quota', param: null });
        expect(error.message).to.contain(sentence);
        expect(error.headers?.get('retry-after')).to.equal(null);
        expect(error.headers?.get('x-should-retry')).to.equal('false');
        expect(service.upstream.requests).to.have.length(1);
      }
      failing(one, { 'retry-after': '20' });
      const answer = await service.generate({ provider, model: 'm', messages });
      expect([answer.status, answer.body.code]).to.deep.equal(
        status === 429 ? [429, 'rest_svc_provider_rate_limited'] : [502, 'rest_svc_provider_error'],
      );
      expect(answer.body.data).to.include({ reason: 'insufficient_quota', provider_status: status });
      expect(answer.headers.get('retry-after')).to.equal(null);
    });

  for (const one of passing)
    it(`are not what limits of the rate mean: ${one[1]}`, async () => {
      failing(one, one[0] === 'google' ? {} : { 'retry-after': '31' });
      const error = await failure(one[0], false);
      expect(error).to.include({ status: 429, code: 'rate_limit_exceeded', type: 'rate_limit_error' });
      expect(error.headers?.get('retry-after')).to.equal('31');
    });

  it('say so in an error event of a stream that began, and in the body of a response with 200', async () => {
    const error = {
      code: 'insufficient_quota',
      type: 'insufficient_quota',
      message: 'You exceeded your current quota.',
    };
    service.upstream.answer({ body: { error } });
    expect(await failure('openai', false)).to.include({ status: 429, code: 'insufficient_quota' });
    const chunk = { choices: [{ index: 0, delta: { content: 'Hello' } }] };
    const body = [chunk, { error }].map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
    service.upstream.answer({ headers: { 'content-type': 'text/event-stream' }, body });
    expect(await failure('openai', true)).to.include({ code: 'insufficient_quota', type: 'insufficient_quota' });
  });

  it('end embeddings and images alike', async () => {
    for (const call of [
      () => client.embeddings.create({ model: 'openai/e', input: 'a' }),
      () => client.images.generate({ model: 'openai/gpt-image-1', prompt: 'A cat' }),
    ]) {
      failing(usedUp[0]!);
      const error = (await call().then(
        () => null,
        (thrown: unknown) => thrown,
      )) as APIError | null;
      expect(error).to.include({ status: 429, code: 'insufficient_quota', type: 'insufficient_quota' });
    }
  });
});
