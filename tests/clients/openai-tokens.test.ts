import { expect } from 'chai';
import OpenAI from 'openai';
import { startService, restKey, type Service } from '../contract/service.ts';

describe('embeddings of ids of tokens at the OpenAI-compatible routes', () => {
  let service: Service;
  let client: OpenAI;
  before(async () => {
    service = await startService();
    service.host.hooks.addFilter('svc_provider_settings', (settings: Readonly<Record<string, unknown>>, id: string) =>
      id === 'google' ? { ...settings, api_key: 'g', base_url: service.upstream.url } : settings,
    );
    client = new OpenAI({ apiKey: restKey, baseURL: `${service.host.url}/wp-json/svc-openai/v1`, maxRetries: 0 });
  });
  beforeEach(() => {
    service.upstream.answer({});
  });
  after(() => service.stop());

  const answering = (count: number, usage?: object) =>
    service.upstream.answer({
      body: {
        data: Array.from({ length: count }, (_, index) => ({ index, embedding: [index, 1] })),
        model: 'm',
        ...(usage && { usage }),
      },
    });
  const model = 'openai/text-embedding-3-small';
  const send = async (body: object): Promise<{ status: number; error: { message: string; param: string | null } }> => {
    const response = await service.host.fetch('/wp-json/svc-openai/v1/embeddings', {
      method: 'POST',
      headers: { authorization: `Bearer ${restKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, ...body }),
    });
    return { status: response.status, ...((await response.json()) as { error: { message: string; param: string } }) };
  };

  it('reach OpenAI as they are, of one text or of several', async () => {
    const cases: [number[] | number[][], number[][]][] = [
      [
        [[15339, 1917], [1985]],
        [[15339, 1917], [1985]],
      ],
      [[15339, 1917, 1985], [[15339, 1917, 1985]]],
    ];
    for (const [input, sent] of cases) {
      answering(sent.length, { prompt_tokens: 3, total_tokens: 3 });
      const { data, usage } = await client.embeddings.create({ model, input });
      expect(data).to.have.length(sent.length);
      expect(service.upstream.requests[0]?.['input']).to.deep.equal(sent);
      expect(usage.prompt_tokens).to.equal(3);
    }
  });

  it('count themselves where the provider reports no usage', async () => {
    answering(2);
    const { usage } = await client.embeddings.create({ model, input: [[1, 2, 3], [4]] });
    expect(usage).to.deep.equal({ prompt_tokens: 4, total_tokens: 4 });
  });

  it('leave texts of digits alone', async () => {
    answering(2);
    await client.embeddings.create({ model, input: ['15339', '7'] });
    expect(service.upstream.requests[0]?.['input']).to.deep.equal(['15339', '7']);
  });

  it('are a 400 that says what to do for a provider that takes texts', async () => {
    const { status, error } = await send({ model: 'google/gemini-embedding-001', input: [[1, 2]] });
    expect([status, error.param]).to.deep.equal([400, 'input']);
    expect(error.message).to.contain('takes texts, not tokens').and.to.contain('check_embedding_ctx_length=False');
    expect(service.upstream.requests).to.have.length(0);
  });

  for (const [title, input] of [
    ['texts and ids', ['a', [1]]],
    ['a text and an id', ['a', 1]],
    ['an empty list', [[1], []]],
    ['an id that is no whole number', [[1.5]]],
    ['a negative id', [-1]],
    ['lists of lists of lists', [[[1]]]],
    ['too many texts', Array.from({ length: 2049 }, () => 'a')],
    ['too many lists', Array.from({ length: 2049 }, () => [1])],
  ] as const)
    it(`are a 400 for ${title}, before anything is sent`, async () => {
      const { status, error } = await send({ input });
      expect([status, error.param]).to.deep.equal([400, 'input']);
      expect(service.upstream.requests).to.have.length(0);
    });
});
