import { expect } from 'chai';
import type { UpstreamResponse } from './upstream.ts';
import { goodRequest, startService, type Answer, type Service } from './service.ts';

interface Expected {
  readonly status: number;
  readonly code: string;
}

describe('errors of POST /generate', () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  beforeEach(() => {
    service.upstream.answer();
  });
  after(() => service.stop());

  function expectError(answer: Answer, { status, code }: Expected): void {
    expect([answer.status, answer.body.code]).to.deep.equal([status, code]);
    expect(answer.body).to.have.all.keys('code', 'message', 'data');
    expect(answer.body.message).to.be.a('string').and.not.equal('');
    expect(answer.body.data.status).to.equal(status);
    expect(answer.text).not.to.match(/sk-upstream|node_modules|\/plugins\/|\bat .+:\d+:\d+/);
  }

  const say = (role: string, content: string): object => ({ role, content });
  const ours: Record<string, [object, Expected]> = {
    'stream: true': [{ stream: true }, { status: 400, code: 'rest_svc_streaming_not_supported' }],
    'stream: "true"': [{ stream: 'true' }, { status: 400, code: 'rest_svc_streaming_not_supported' }],
    'no messages in the list': [{ messages: [] }, { status: 400, code: 'rest_svc_invalid_messages' }],
    'nothing but blank content': [
      { messages: [say('system', ' '), say('user', '\n\t')] },
      { status: 400, code: 'rest_svc_invalid_messages' },
    ],
    'an assistant at the end': [
      { messages: [say('user', 'a'), say('assistant', 'b')] },
      { status: 400, code: 'rest_svc_invalid_last_message' },
    ],
    'a system message at the end': [
      { messages: [say('user', 'a'), say('system', 'b')] },
      { status: 400, code: 'rest_svc_invalid_last_message' },
    ],
    'a blank last message': [
      { messages: [say('user', 'a'), say('user', '  ')] },
      { status: 400, code: 'rest_svc_invalid_last_message' },
    ],
    'a provider without a saved key': [
      { provider: 'claude' },
      { status: 400, code: 'rest_svc_provider_not_configured' },
    ],
  };
  for (const [name, [change, expected]] of Object.entries(ours)) {
    it(`answers ${expected.status} ${expected.code} to ${name}`, async () => {
      expectError(await service.generate({ ...goodRequest, ...change }), expected);
      expect(service.upstream.requests).to.have.length(0);
    });
  }

  it('says where an unconfigured provider is set up', async () => {
    const { body } = await service.generate({ ...goodRequest, provider: 'claude' });
    expect(body.message).to.contain('Claude').and.contain('API key').and.contain('AI service');
    expect(body.data).to.deep.include({ provider: 'claude', provider_status: null });
  });

  const failure = (status: number, message: string): UpstreamResponse => ({
    status,
    body: { error: { message, type: 'some_error', code: null } },
  });
  const theirs: Record<string, [UpstreamResponse, Expected & { readonly tries: number; readonly sentence?: string }]> =
    {
      400: [
        failure(400, 'temperature is not supported'),
        { status: 400, code: 'rest_svc_provider_rejected', tries: 1, sentence: 'temperature is not supported' },
      ],
      404: [
        failure(404, 'The model does not exist'),
        { status: 400, code: 'rest_svc_provider_rejected', tries: 1, sentence: 'The model does not exist' },
      ],
      413: [
        failure(413, 'Too long'),
        { status: 400, code: 'rest_svc_provider_rejected', tries: 1, sentence: 'Too long' },
      ],
      422: [
        failure(422, 'Unprocessable'),
        { status: 400, code: 'rest_svc_provider_rejected', tries: 1, sentence: 'Unprocessable' },
      ],
      401: [
        failure(401, 'Incorrect API key provided'),
        { status: 502, code: 'rest_svc_provider_auth_failed', tries: 1 },
      ],
      403: [failure(403, 'Not for your country'), { status: 502, code: 'rest_svc_provider_auth_failed', tries: 1 }],
      429: [
        { ...failure(429, 'Slow down'), headers: { 'retry-after': '7' } },
        { status: 429, code: 'rest_svc_provider_rate_limited', tries: 3 },
      ],
      500: [failure(500, 'Broken'), { status: 502, code: 'rest_svc_provider_error', tries: 3 }],
      503: [failure(503, 'Overloaded'), { status: 502, code: 'rest_svc_provider_error', tries: 3 }],
    };
  for (const [status, [answer, expected]] of Object.entries(theirs)) {
    it(`answers ${expected.status} ${expected.code} when the provider answers ${status}, after ${expected.tries} tries`, async () => {
      service.upstream.answer(answer);
      const error = await service.generate(goodRequest);
      expectError(error, expected);
      expect(error.body.data).to.include({ provider: 'openai', provider_status: Number(status) });
      if (expected.sentence) expect(error.body.message).to.contain(expected.sentence);
      expect(service.upstream.requests).to.have.length(expected.tries);
    });
  }

  it("passes on the provider's Retry-After", async () => {
    service.upstream.answer({ ...failure(429, 'Slow down'), headers: { 'retry-after': '7' } });
    expect((await service.generate(goodRequest)).headers.get('retry-after')).to.equal('7');
  });

  it('answers 200 when a further try succeeds', async () => {
    service.upstream.answer(failure(500, 'Broken'), failure(429, 'Slow down'), {});
    expect((await service.generate(goodRequest)).status).to.equal(200);
    expect(service.upstream.requests).to.have.length(3);
  });

  it('answers 502 rest_svc_provider_error to an answer that cannot be read', async () => {
    service.upstream.answer({ body: '<html>Bad gateway</html>' });
    expectError(await service.generate(goodRequest), { status: 502, code: 'rest_svc_provider_error' });
    service.upstream.answer({ body: { object: 'something else' } });
    expectError(await service.generate(goodRequest), { status: 502, code: 'rest_svc_provider_error' });
  });

  it('answers 502 rest_svc_provider_error when the connection is lost', async () => {
    service.upstream.answer({ instead: 'cut' });
    expectError(await service.generate(goodRequest), { status: 502, code: 'rest_svc_provider_error' });
  });

  it('answers 504 rest_svc_provider_timeout when no answer comes in 60 seconds', async () => {
    service.upstream.answer({ instead: 'hang' });
    const answer = service.generate(goodRequest);
    await service.upstream.asked();
    await service.clock.advance(60_000);
    expectError(await answer, { status: 504, code: 'rest_svc_provider_timeout' });
  });

  it('answers 429 rest_svc_rate_limited above the own limit, and 401 before that', async () => {
    await service.host.options.update('svc_limits', { requests_per_minute: 1 });
    await service.clock.advance(60_000);
    expect((await service.generate(goodRequest)).status).to.equal(200);
    const refused = await service.generate(goodRequest);
    const keyless = await service.generate(goodRequest, {});
    await service.host.options.delete('svc_limits');
    expectError(refused, { status: 429, code: 'rest_svc_rate_limited' });
    expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 60);
    expect(keyless.status).to.equal(401);
    expect((await service.generate(goodRequest)).status).to.equal(200);
  });

  it('answers 500 with a fixed sentence when a filter of another plugin breaks, and the site goes on', async () => {
    const undo = service.host.hooks.addFilter('svc_text_request', () => {
      throw new Error('a secret inside /work/private.ts');
    });
    const error = await service.generate(goodRequest);
    undo();
    expectError(error, { status: 500, code: 'rest_internal_error' });
    expect(error.text).not.to.contain('private');
    expect((await service.generate(goodRequest)).status).to.equal(200);
  });
});
