import { expect } from 'chai';
import { base64Of, openAiAnswer, vectorOf, type FakeResponse, type Script } from './embedding-upstream.ts';
import { providerKey, startEmbeddingService, type Answer, type EmbeddingService } from './embedding-service.ts';

const request = { provider: 'openai', model: 'text-embedding-3-small', input: ['one', 'two'] };

interface Expected {
  readonly status: number;
  readonly code: string;
}

describe('errors of POST /embeddings', () => {
  let service: EmbeddingService;
  before(async () => {
    service = await startEmbeddingService();
  });
  beforeEach(() => {
    service.upstream.script();
  });
  after(() => service.stop());

  function expectError(answer: Answer, { status, code }: Expected): void {
    expect([answer.status, answer.body.code], answer.text).to.deep.equal([status, code]);
    expect(answer.body).to.have.all.keys('code', 'message', 'data');
    expect(answer.body.data.status).to.equal(status);
    expect(answer.text)
      .not.to.match(/node_modules|\/plugins\/|\bat .+:\d+:\d+/)
      .and.not.contain(providerKey);
  }

  it('asks for the REST key before anything else', async () => {
    for (const body of [request, {}, '{"provider":'])
      expectError(await service.embed(body, { headers: {} }), { status: 401, code: 'rest_svc_invalid_api_key' });
  });

  it('names all that is missing', async () => {
    const { status, body } = await service.embed({});
    expect([status, body.code, body.data.params]).to.deep.equal([
      400,
      'rest_missing_callback_param',
      ['provider', 'model', 'input'],
    ]);
  });

  const invalid: Record<string, object> = {
    provider: { provider: 'claude' },
    model: { model: '' },
    input: { input: [] },
    'input of something else': { input: [1, 2] },
    'input that is an object': { input: { text: 'one' } },
    dimensions: { dimensions: 0 },
    'dimensions that are no whole number': { dimensions: 1.5 },
    encoding_format: { encoding_format: 'hex' },
    task_type: { task_type: 'SOMETHING' },
    output_dimensionality: { output_dimensionality: -1 },
    user: { user: 7 },
  };
  for (const [name, change] of Object.entries(invalid)) {
    it(`refuses a bad ${name} with 400 rest_invalid_param and asks nobody`, async () => {
      const answer = await service.embed({ ...request, ...change });
      expectError(answer, { status: 400, code: 'rest_invalid_param' });
      expect(Object.keys(answer.body.data.params)).to.deep.equal(Object.keys(change));
      expect(service.upstream.asked).to.have.length(0);
    });
  }

  it('takes 2,048 texts and refuses one more', async () => {
    const input = Array.from({ length: 2049 }, (_, place) => `t${String(place)}`);
    expectError(await service.embed({ ...request, input }), { status: 400, code: 'rest_invalid_param' });
    const { status, body } = await service.embed({ ...request, input: input.slice(1) });
    expect([status, body.embeddings.length, service.upstream.asked.length]).to.deep.equal([200, 2048, 8]);
  });

  for (const [input, named] of [
    ['', 'input'],
    [' \n\t', 'input'],
    [['one', '  '], 'input[1]'],
    [[''], 'input[0]'],
  ] as const) {
    it(`refuses the blank text ${JSON.stringify(input)} by its place`, async () => {
      const answer = await service.embed({ ...request, input });
      expectError(answer, { status: 400, code: 'rest_svc_empty_input' });
      expect(answer.body.message).to.equal(`${named} must not be blank.`);
      expect(service.upstream.asked).to.have.length(0);
    });
  }

  it('says where an unconfigured provider is set up', async () => {
    const undo = service.host.hooks.addFilter('svc_provider_settings', () => ({}), 20);
    const answer = await service.embed(request);
    undo();
    expectError(answer, { status: 400, code: 'rest_svc_provider_not_configured' });
    expect(answer.body.message).to.contain('OpenAI').and.contain('API key').and.contain('AI service');
  });

  const failure = (status: number, message: string, headers: Record<string, string> = {}): FakeResponse => ({
    status,
    headers,
    body: { error: { message, type: 'some_error', code: null } },
  });
  const theirs: readonly (readonly [number, Expected, number])[] = [
    [400, { status: 400, code: 'rest_svc_provider_rejected' }, 1],
    [401, { status: 502, code: 'rest_svc_provider_auth_failed' }, 1],
    [403, { status: 502, code: 'rest_svc_provider_auth_failed' }, 1],
    [404, { status: 400, code: 'rest_svc_provider_rejected' }, 1],
    [413, { status: 400, code: 'rest_svc_provider_rejected' }, 1],
    [422, { status: 400, code: 'rest_svc_provider_rejected' }, 1],
    [429, { status: 429, code: 'rest_svc_provider_rate_limited' }, 3],
    [500, { status: 502, code: 'rest_svc_provider_error' }, 3],
    [503, { status: 502, code: 'rest_svc_provider_error' }, 3],
  ];
  for (const provider of ['openai', 'azure', 'google', 'openrouter']) {
    for (const [status, expected, tries] of theirs) {
      it(`answers ${String(expected.status)} ${expected.code} when ${provider} answers ${String(status)}, after ${String(tries)} tries`, async () => {
        service.upstream.script(() =>
          failure(status, `Sentence of ${String(status)}, not of ${providerKey}.`, { 'retry-after': '7' }),
        );
        const answer = await service.embed({ ...request, provider });
        expectError(answer, expected);
        expect(answer.body.message).to.contain(`Sentence of ${String(status)}, not of [redacted].`);
        expect(answer.body.data).to.include({ provider, provider_status: status });
        expect(answer.headers.get('retry-after')).to.equal(status === 429 ? '7' : null);
        expect(service.upstream.asked).to.have.length(tries);
      });
    }
  }

  it('answers 200 when a further try succeeds, a cut connection before it included', async () => {
    service.upstream.script((_asked, count) => [failure(500, 'Broken'), { instead: 'cut' as const }][count - 1]);
    const { status, body } = await service.embed(request);
    expect([status, service.upstream.asked.length]).to.deep.equal([200, 3]);
    expect(body.embeddings).to.deep.equal([vectorOf('one'), vectorOf('two')]);
  });

  it('answers 504 when nothing comes within the time limit for embeddings', async () => {
    await service.host.options.update('svc_limits', { embeddings_timeout: 3 });
    let asked = (): void => undefined;
    const hanging = new Promise<void>((resolve) => {
      asked = resolve;
    });
    service.upstream.script(() => {
      asked();
      return { instead: 'hang' };
    });
    const pending = service.embed(request);
    await hanging;
    await service.clock.advance(3000);
    const answer = await pending;
    await service.host.options.delete('svc_limits');
    expectError(answer, { status: 504, code: 'rest_svc_provider_timeout' });
    expect(answer.body.message).to.equal('OpenAI did not respond within 3 seconds. Try again later.');
  });

  it('answers 502 to vectors of another size than dimensions (contract 4.4, D49)', async () => {
    service.upstream.script(({ body }) => ({ body: openAiAnswer({ body: { ...body, dimensions: 5 } }) }));
    const answer = await service.embed({ ...request, dimensions: 3 });
    expectError(answer, { status: 502, code: 'rest_svc_provider_error' });
    expect(answer.body.message).to.contain('5 dimensions instead of 3');
  });

  const entry = (index: number, embedding: unknown): object => ({ object: 'embedding', index, embedding });
  const vector = vectorOf('x');
  const unreadable: Record<string, unknown> = {
    'one vector for two texts': { data: [entry(0, vector)] },
    'three vectors for two texts': { data: [entry(0, vector), entry(1, vector), entry(1, vector)] },
    'an index twice': { data: [entry(0, vector), entry(0, vector)] },
    'an index beyond the texts': { data: [entry(0, vector), entry(2, vector)] },
    'an index that is none': { data: [entry(0, vector), entry(-1, vector)] },
    'vectors of two lengths': { data: [entry(0, vector), entry(1, vector.slice(1))] },
    'empty vectors': { data: [entry(0, []), entry(1, [])] },
    'null for a vector': { data: [entry(0, vector), entry(1, null)] },
    'null in a vector': { data: [entry(0, vector), entry(1, [...vector.slice(1), null])] },
    'text in a vector': { data: [entry(0, vector), entry(1, [...vector.slice(1), '0.5'])] },
    'a list in a vector': { data: [entry(0, vector), entry(1, [...vector.slice(1), [0.5]])] },
    'a number that is too large': `{"data":[{"index":0,"embedding":[1e999]},{"index":1,"embedding":[1]}]}`,
    'broken numbers': `{"data":[{"index":0,"embedding":[1.]},{"index":1,"embedding":[1]}]}`,
    'numbers without commas': `{"data":[{"index":0,"embedding":[1 2]},{"index":1,"embedding":[1, 2]}]}`,
    'text that is no base64': { data: [entry(0, 'not base64 !'), entry(1, 'not base64 !')] },
    'base64 of half a number': { data: [entry(0, base64Of(vector)), entry(1, Buffer.alloc(33).toString('base64'))] },
    'base64 of no number': { data: [entry(0, base64Of([1])), entry(1, base64Of([Number.NaN]))] },
    'no list': { data: {} },
    'entries that are none': { data: [1, 2] },
    'another object': { hello: 'world' },
    'no JSON': '<html>Welcome</html>',
    'half an answer': JSON.stringify(openAiAnswer({ body: request })).slice(0, 200),
    nothing: ' ',
  };
  for (const [name, body] of Object.entries(unreadable)) {
    it(`answers 502 to an answer with ${name}, after one try`, async () => {
      const withModel =
        typeof body === 'object' && body !== null
          ? { object: 'list', model: 'm', usage: { prompt_tokens: 1, total_tokens: 1 }, ...body }
          : body;
      service.upstream.script(() => ({ body: withModel }));
      const answer = await service.embed(request);
      expectError(answer, { status: 502, code: 'rest_svc_provider_error' });
      expect(answer.body.message).to.match(/^OpenAI failed: its response could not be read \(.+\)\.$/);
      expect(service.upstream.asked).to.have.length(1);
    });
  }

  for (const [name, body] of Object.entries({
    'too few': { embeddings: [{ values: vector }] },
    'several lengths': { embeddings: [{ values: vector }, { values: [1] }] },
    'no values': { embeddings: [{ values: vector }, {}] },
    'no list': { embedding: { values: vector } },
    'text for a number': { embeddings: [{ values: [1] }, { values: ['1'] }] },
  })) {
    it(`answers 502 to an answer of Google's with ${name}`, async () => {
      service.upstream.script(() => ({ body }));
      expectError(await service.embed({ ...request, provider: 'google' }), {
        status: 502,
        code: 'rest_svc_provider_error',
      });
    });
  }

  it('reads the error that OpenRouter puts inside a 200', async () => {
    service.upstream.script(() => ({ body: { error: { code: 404, message: 'No such embedding model.' } } }));
    const answer = await service.embed({ ...request, provider: 'openrouter' });
    expectError(answer, { status: 400, code: 'rest_svc_provider_rejected' });
    expect(answer.body.message).to.contain('No such embedding model.');
  });

  describe('with more texts than a call of the provider may hold', () => {
    const many = Array.from({ length: 250 }, (_, place) => `text ${String(place)}`);
    const textsOf = (body: Readonly<Record<string, unknown>>): string[] =>
      (body['requests'] as { content: { parts: { text: string }[] } }[]).map(
        ({ content }) => content.parts[0]?.text ?? '',
      );
    const inCallOf =
      (text: string, answer: FakeResponse): Script =>
      ({ body }) =>
        textsOf(body).includes(text) ? answer : undefined;

    it('asks several times, keeps the order and sums the usage', async () => {
      const { status, body } = await service.embed({ ...request, provider: 'google', input: many });
      expect([status, service.upstream.asked.length]).to.deep.equal([200, 3]);
      expect(service.upstream.asked.map((asked) => textsOf(asked.body).length).sort()).to.deep.equal([100, 100, 50]);
      expect(body.embeddings).to.deep.equal(many.map((text) => vectorOf(text)));
      expect(body.usage.input_tokens).to.equal(750);
    });

    it('fails as a whole when one of the calls fails, with its error', async () => {
      service.upstream.script(inCallOf('text 249', failure(400, 'Not this one.')));
      const answer = await service.embed({ ...request, provider: 'google', input: many });
      expectError(answer, { status: 400, code: 'rest_svc_provider_rejected' });
      expect(answer.body.message).to.contain('Not this one.');
    });

    it('tries again only the call that failed', async () => {
      let failed = false;
      service.upstream.script(({ body }) => {
        if (failed || !textsOf(body).includes('text 150')) return undefined;
        failed = true;
        return failure(503, 'Overloaded');
      });
      const { status, body } = await service.embed({ ...request, provider: 'google', input: many });
      expect([status, service.upstream.asked.length]).to.deep.equal([200, 4]);
      expect(body.embeddings).to.deep.equal(many.map((text) => vectorOf(text)));
    });

    it('takes vectors of another length in another call as unreadable', async () => {
      service.upstream.script(({ body }) =>
        textsOf(body).includes('text 249')
          ? { body: { embeddings: textsOf(body).map(() => ({ values: [1, 2] })) } }
          : undefined,
      );
      expectError(await service.embed({ ...request, provider: 'google', input: many }), {
        status: 502,
        code: 'rest_svc_provider_error',
      });
    });

    it('keeps below the tokens a call of OpenAI may hold', async () => {
      const input = Array.from({ length: 8 }, (_, place) => `${String(place)}${'word '.repeat(20_000)}`);
      const { status, body } = await service.embed({ ...request, input });
      expect([status, service.upstream.asked.length]).to.deep.equal([200, 4]);
      expect(body.usage).to.deep.equal({ input_tokens: 24, total_tokens: 24 });
    });
  });
});
