import { expect } from 'chai';
import type { RestError } from '#plugin-api';
import { createFakeClock } from '../../../host/testing/fake-clock.ts';
import { createGenerateText, type GenerateTextInput } from '../../../plugins/svc/ai/generate-text.ts';
import { ProviderError } from '../../../plugins/svc/providers/provider.ts';
import { failureOf } from '../../helpers/failure-of.ts';
import { answer, overloaded, scripted, services, type ServicesInit } from './helpers.ts';

const call: GenerateTextInput = {
  provider: 'scripted',
  model: 'model',
  messages: [{ role: 'user', content: 'Hello.' }],
};

async function generating(provider: ReturnType<typeof scripted>, init: ServicesInit = {}) {
  return createGenerateText(await services({ providers: [provider], ...init }));
}

async function refusal(error: Error | ProviderError, input: Partial<GenerateTextInput> = {}): Promise<RestError> {
  const generateText = await generating(scripted(error));
  return (await failureOf(generateText({ ...call, ...input }))) as RestError;
}

describe('Generating text', () => {
  it('answers the text with the provider’s display name and the model that answered', async () => {
    const generateText = await generating(scripted(answer));
    expect(await generateText(call)).to.deep.equal({
      content: 'Bonjour.',
      usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
      providerId: 'scripted',
      provider: 'Scripted',
      model: 'answered',
      ignored: [],
      usageEstimated: false,
      cost: null,
    });
  });

  it('counts the tokens itself when the provider reported none, control tokens as plain text', async () => {
    const generateText = await generating(scripted({ ...answer, usage: null, content: 'Bonjour, <|endoftext|>' }));
    const { usage, usageEstimated } = await generateText({ ...call, systemInstruction: 'Be brief.' });
    expect(usageEstimated).to.equal(true);
    expect(usage.input_tokens).to.be.within(8, 25);
    expect(usage.output_tokens).to.be.within(5, 15);
    expect(usage.total_tokens).to.equal(usage.input_tokens + usage.output_tokens);
  });

  it('refuses images for a model that reads none, before anything is sent or reserved', async () => {
    const provider = scripted(answer);
    const reserved: unknown[] = [];
    const ai = await services({ providers: [provider] });
    const generateText = createGenerateText({
      ...ai,
      recordUsage: async (recorded) => {
        reserved.push(recorded.kind);
        return Object.assign(await recorded.run(), { cost: null });
      },
    });
    const images = [{ bytes: Buffer.from('image'), mimeType: 'image/png' }];
    const seen = { ...call, messages: [{ role: 'user', content: ' ', images }] as const };
    expect(await failureOf(generateText(seen))).to.include({
      code: 'rest_svc_model_cannot_see',
      status: 400,
      message: 'model of Scripted cannot read images. Choose a model that can.',
    });
    expect([provider.requests.length, reserved]).to.deep.equal([0, []]);
    Object.assign(provider.text ?? {}, { sees: (model: string) => model === 'model' });
    await generateText(seen);
    expect(provider.requests[0]?.messages).to.deep.equal([{ role: 'user', content: ' ', images }]);
    expect(await failureOf(generateText({ ...seen, model: 'other' }))).to.include({
      code: 'rest_svc_model_cannot_see',
    });
  });

  it('estimates images as many tokens', async () => {
    const provider = scripted({ ...answer, usage: null });
    Object.assign(provider.text ?? {}, { sees: () => true });
    let estimated = 0;
    const generateText = createGenerateText({
      ...(await services({ providers: [provider] })),
      recordUsage: async (recorded) => {
        estimated = (await recorded.estimate()).inputTokens;
        return Object.assign(await recorded.run(), { cost: null });
      },
    });
    const image = { bytes: Buffer.from('image'), mimeType: 'image/png' };
    const { usage } = await generateText({
      ...call,
      messages: [{ role: 'user', content: 'Hi', images: [image, image] }],
    });
    expect(usage.input_tokens).to.be.within(3_200, 3_220);
    expect(estimated).to.be.within(3_200, 3_220);
  });

  it('lets the call’s parameters override the global ones', async () => {
    const provider = scripted(answer);
    const generateText = await generating(provider, {
      settings: { aiParams: () => Promise.resolve({ temperature: 0.2, seed: 7 }) },
    });
    await generateText({ ...call, params: { temperature: 0.9, top_k: 3 } });
    expect(provider.requests[0]?.params).to.deep.equal({ temperature: 0.9, seed: 7, top_k: 3 });
  });

  it('takes the provider’s saved model where the call names none', async () => {
    const provider = scripted(answer);
    const generateText = await generating(provider, {
      settings: { provider: () => Promise.resolve({ api_key: 'key', model: 'saved' }) },
    });
    await generateText({ ...call, model: ' ' });
    expect(provider.requests[0]?.model).to.equal('saved');
  });

  it('fills the placeholders with the site’s local date and the user’s name', async () => {
    const provider = scripted(answer);
    const clock = createFakeClock({ now: Date.UTC(2026, 10, 20, 23, 30) });
    const generateText = await generating(provider, { clock, timezone: 'Asia/Tokyo' });
    await generateText({
      ...call,
      systemInstruction: 'On [date], [username] asks.',
      user: { id: 4, displayName: 'Ada [date] $& L.' },
    });
    expect(provider.requests[0]?.system).to.equal('On 2026-11-21, Ada [date] $& L. asks.');
  });

  it('calls a visitor who is not signed in Guest', async () => {
    const provider = scripted(answer);
    await (
      await generating(provider)
    )({ ...call, systemInstruction: '[username]', user: { id: 0, displayName: '' } });
    expect(provider.requests[0]?.system).to.equal('Guest');
  });

  it('lets the system instruction stand alone where one is given, and joins the system messages where not', async () => {
    const provider = scripted(answer);
    const generateText = await generating(provider);
    const messages = [
      { role: 'system', content: 'First.' },
      { role: 'user', content: 'Hello.' },
      { role: 'system', content: 'Second.' },
      { role: 'assistant', content: ' ' },
      { role: 'user', content: 'Again.' },
    ] as const;
    await generateText({ ...call, messages, systemInstruction: 'Alone.' });
    await generateText({ ...call, messages, systemInstruction: '  ' });
    await generateText({ ...call, messages: [messages[1]] });
    expect(provider.requests.map(({ system }) => system)).to.deep.equal(['Alone.', 'First.\n\nSecond.', null]);
    expect(provider.requests[1]?.messages).to.deep.equal([
      { role: 'user', content: 'Hello.' },
      { role: 'user', content: 'Again.' },
    ]);
  });
});

describe('Generating text fails', () => {
  for (const [what, error, status, code, message] of [
    [
      '401',
      { kind: 'auth', status: 401, message: 'Bad key.' },
      502,
      'rest_svc_provider_auth_failed',
      'Scripted refused the saved credentials: Bad key. Check its key in the admin under AI service.',
    ],
    [
      '403',
      { kind: 'auth', status: 403, message: 'Not allowed' },
      502,
      'rest_svc_provider_auth_failed',
      'Scripted refused access: Not allowed. Check in its account what the key, the region and the model may do.',
    ],
    [
      '400',
      { kind: 'rejected', status: 400, message: 'Bad request.' },
      400,
      'rest_svc_provider_rejected',
      'Scripted refused the request: Bad request.',
    ],
    [
      '429',
      { kind: 'rate_limited', status: 429, message: 'Slow down.', retryAfter: 20 },
      429,
      'rest_svc_provider_rate_limited',
      'Scripted is limiting the rate of requests: Slow down.',
    ],
    [
      '503',
      { kind: 'unavailable', status: 503, message: 'Overloaded.' },
      502,
      'rest_svc_provider_error',
      'Scripted failed: Overloaded.',
    ],
    [
      'an unreadable answer',
      { kind: 'unreadable', status: 200, message: 'not JSON.' },
      502,
      'rest_svc_provider_error',
      'Scripted failed: not JSON.',
    ],
    [
      'a cut connection',
      { kind: 'connection', message: 'the connection was cut.' },
      502,
      'rest_svc_provider_error',
      'Scripted failed: the connection was cut.',
    ],
    [
      'no answer in time',
      { kind: 'timeout', message: 'no answer came in time.' },
      504,
      'rest_svc_provider_timeout',
      'Scripted did not respond within 60 seconds. Try again later.',
    ],
    [
      '408',
      { kind: 'timeout', status: 408, message: 'Too slow.' },
      504,
      'rest_svc_provider_timeout',
      'Scripted timed out: Too slow.',
    ],
  ] as const) {
    it(`with ${String(status)} ${code} for ${what}`, async () => {
      const failure = await refusal(new ProviderError(error));
      expect([failure.status, failure.code, failure.message]).to.deep.equal([status, code, message]);
      expect(failure.data).to.deep.equal({
        provider: 'scripted',
        provider_status: 'status' in error ? error.status : null,
      });
    });
  }

  it('passing Retry-After on', async () => {
    expect(
      (await refusal(new ProviderError({ kind: 'rate_limited', status: 429, message: 'Slow down.', retryAfter: 20.2 })))
        .headers,
    ).to.deep.equal({ 'Retry-After': '21' });
    expect(
      (await refusal(new ProviderError({ kind: 'rate_limited', status: 429, message: 'Slow down.' }))).headers,
    ).to.deep.equal({ 'x-should-retry': 'false' });
  });

  it('alike for an error that a plugin’s provider made without our class', async () => {
    const failure = await refusal(Object.assign(new Error('Theirs.'), { kind: 'rejected', status: 422 }));
    expect([failure.code, failure.message]).to.deep.equal([
      'rest_svc_provider_rejected',
      'Scripted refused the request: Theirs.',
    ]);
  });

  it('with the error itself where the fault is ours', async () => {
    expect(await refusal(new TypeError('x is not a function'))).to.be.instanceOf(TypeError);
  });

  it('with 400 that names what is missing and where to set it, when the provider is not configured', async () => {
    const generateText = await generating(scripted(answer), { settings: { provider: () => Promise.resolve({}) } });
    const failure = (await failureOf(generateText(call))) as RestError;
    expect([failure.status, failure.code]).to.deep.equal([400, 'rest_svc_provider_not_configured']);
    expect(failure.message).to.equal('Scripted is not configured. Save its API key in the admin under AI service.');
  });

  it('with 400 when a saved key cannot be one, or an address is none', async () => {
    for (const settings of [
      { api_key: 'two\nlines' },
      { api_key: 'ключ' },
      { api_key: 'key', base_url: 'ftp://example.com' },
    ]) {
      const generateText = await generating(scripted(answer), {
        settings: { provider: () => Promise.resolve(settings) },
      });
      expect(((await failureOf(generateText(call))) as RestError).code).to.equal('rest_svc_provider_not_configured');
    }
  });

  it('with 400 when there is no such provider', async () => {
    const generateText = await generating(scripted(answer));
    expect(((await failureOf(generateText({ ...call, provider: 'nobody' }))) as RestError).code).to.equal(
      'rest_invalid_param',
    );
  });
});

describe('Further tries', () => {
  it('are two, after half a second and after one, when the provider is unavailable', async () => {
    const provider = scripted(overloaded);
    const clock = createFakeClock({ skipSleeps: true });
    const started = clock.now();
    await failureOf((await generating(provider, { clock }))(call));
    expect([provider.requests.length, clock.now() - started]).to.deep.equal([3, 1500]);
    expect(provider.fetches.size, 'a client of an SDK is built for each').to.equal(1);
  });

  it('are made at once, the first time, where a connection was cut, as one that was kept alive for too long', async () => {
    for (const code of ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']) {
      const cause = new TypeError('fetch failed', { cause: Object.assign(new Error('closed'), { code }) });
      const cut = new ProviderError({ kind: 'connection', message: 'cut.', cause });
      const clock = createFakeClock({ skipSleeps: true });
      const started = clock.now();
      await (
        await generating(scripted(cut, answer), { clock })
      )(call);
      expect(clock.now() - started).to.equal(0);
      await failureOf((await generating(scripted(cut), { clock }))(call));
      expect(clock.now() - started).to.equal(1000);
    }
  });

  for (const kind of ['connection', 'rate_limited', 'unavailable'] as const) {
    it(`succeed where ${kind} was passing`, async () => {
      const provider = scripted(new ProviderError({ kind, message: 'For now.' }), answer);
      expect((await (await generating(provider))(call)).content).to.equal('Bonjour.');
    });
  }

  for (const [kind, status] of [
    ['auth', 401],
    ['rejected', 400],
    ['unreadable', 200],
    ['timeout', null],
    ['aborted', null],
  ] as const) {
    it(`are not made for ${kind}`, async () => {
      const provider = scripted(new ProviderError({ kind, status, message: 'No.' }));
      await failureOf((await generating(provider))(call));
      expect(provider.requests).to.have.length(1);
    });
  }

  it('are made for 408', async () => {
    const provider = scripted(new ProviderError({ kind: 'timeout', status: 408, message: 'Slow.' }), answer);
    await (
      await generating(provider)
    )(call);
    expect(provider.requests).to.have.length(2);
  });

  it('wait as long as Retry-After asks, up to 10 seconds', async () => {
    const clock = createFakeClock({ skipSleeps: true });
    const started = clock.now();
    const provider = scripted(
      new ProviderError({ kind: 'rate_limited', status: 429, message: 'Wait.', retryAfter: 10 }),
      answer,
    );
    await (
      await generating(provider, { clock })
    )(call);
    expect(clock.now() - started).to.equal(10_000);
  });

  it('are not made when more than 10 seconds are asked for', async () => {
    const provider = scripted(
      new ProviderError({ kind: 'rate_limited', status: 429, message: 'Wait.', retryAfter: 11 }),
    );
    await failureOf((await generating(provider))(call));
    expect(provider.requests).to.have.length(1);
  });

  it('get the time that is left, and are not made when none would be', async () => {
    const provider = scripted(overloaded);
    const generateText = await generating(provider, {
      settings: { timeouts: () => Promise.resolve({ text: 1200, embeddings: 1200, images: 180_000 }) },
    });
    expect(((await failureOf(generateText(call))) as RestError).code).to.equal('rest_svc_provider_error');
    expect(provider.timeouts).to.deep.equal([1200, 700]);
  });

  it('end at once when the caller gives up while one is waited for', async () => {
    const clock = createFakeClock();
    const controller = new AbortController();
    const provider = scripted(overloaded);
    const failing = failureOf((await generating(provider, { clock }))({ ...call, signal: controller.signal }));
    await clock.advance(0);
    expect(clock.pending()).to.equal(1);
    controller.abort();
    expect(((await failing) as RestError).code).to.equal('rest_svc_request_aborted');
    expect(provider.requests).to.have.length(1);
  });
});
