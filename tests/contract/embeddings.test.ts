import { expect } from 'chai';
import { googleAnswer, openAiAnswer, vectorOf, type Asked } from './embedding-upstream.ts';
import { official, providerKey, startEmbeddingService, type EmbeddingService } from './embedding-service.ts';

const texts = ['The cat sat on the mat.', 'Ein Hund bellt. 🐕', 'third'];

/** Every field of contract 4.4 that callers may choose. */
const fields = {
  dimensions: 4,
  encoding_format: 'base64',
  task_type: 'RETRIEVAL_DOCUMENT',
  output_dimensionality: 6,
  user: 'end-user-7',
} as const;

interface Expected {
  readonly title: string;
  readonly provider: string;
  readonly label: string;
  readonly model: string;
  readonly azureVersion?: string;
  readonly path: string;
  readonly key: readonly [header: string, value: string];
  /** The body for the three texts, with no field chosen. */
  readonly plain: Readonly<Record<string, unknown>>;
  /** And with all of them. */
  readonly full: Readonly<Record<string, unknown>>;
  readonly dimensions: number;
  readonly ignored: string;
  readonly answeredBy: string;
  readonly valid: ReturnType<typeof official>;
}

const openAiRequest = official('openai', 'CreateEmbeddingRequest');
const bearer = ['authorization', `Bearer ${providerKey}`] as const;

type OpenAiFacts = Pick<Expected, 'title' | 'provider' | 'label' | 'path' | 'ignored' | 'key'> & {
  azureVersion?: string;
  sent: object;
};

function openAiFormat({ sent, ...facts }: OpenAiFacts): Expected {
  const model = 'text-embedding-3-small';
  const plain = { model, input: texts, encoding_format: 'float' };
  return {
    ...facts,
    model,
    plain,
    full: { ...plain, dimensions: 4, ...sent },
    dimensions: 4,
    answeredBy: `${model}-answered`,
    valid: openAiRequest,
  };
}

const googleModel = 'gemini-embedding-001';
const googleRequests = (more: object = {}): object[] =>
  texts.map((text) => ({ content: { parts: [{ text }] }, model: `models/${googleModel}`, ...more }));

const all: readonly Expected[] = [
  openAiFormat({
    title: 'openai',
    provider: 'openai',
    label: 'OpenAI',
    path: '/v1/embeddings',
    key: bearer,
    sent: { encoding_format: 'base64', user: 'end-user-7' },
    ignored: 'task_type, output_dimensionality',
  }),
  openAiFormat({
    title: 'openrouter',
    provider: 'openrouter',
    label: 'OpenRouter',
    path: '/api/v1/embeddings',
    key: bearer,
    sent: { encoding_format: 'base64' },
    ignored: 'task_type, output_dimensionality, user',
  }),
  openAiFormat({
    title: 'azure by v1',
    provider: 'azure',
    label: 'Azure',
    path: '/openai/v1/embeddings',
    key: ['api-key', providerKey],
    sent: { user: 'end-user-7' },
    ignored: 'encoding_format, task_type, output_dimensionality',
  }),
  openAiFormat({
    title: 'azure by the classic interface',
    provider: 'azure',
    label: 'Azure',
    azureVersion: '2024-10-21',
    key: ['api-key', providerKey],
    path: '/openai/deployments/text-embedding-3-small/embeddings?api-version=2024-10-21',
    sent: { user: 'end-user-7' },
    ignored: 'encoding_format, task_type, output_dimensionality',
  }),
  {
    title: 'google',
    provider: 'google',
    label: 'Google',
    model: googleModel,
    path: `/v1beta/models/${googleModel}:batchEmbedContents`,
    key: ['x-goog-api-key', providerKey],
    plain: { requests: googleRequests() },
    full: { requests: googleRequests({ taskType: 'RETRIEVAL_DOCUMENT', outputDimensionality: 6 }) },
    dimensions: 6,
    ignored: 'dimensions, encoding_format, user',
    answeredBy: googleModel,
    valid: official('gemini', 'BatchEmbedContentsRequest'),
  },
];

for (const expected of all) {
  describe(`POST /embeddings by ${expected.title}`, () => {
    const { provider, model } = expected;
    let service: EmbeddingService;
    before(async () => {
      service = await startEmbeddingService({ ...(expected.azureVersion && { azureVersion: expected.azureVersion }) });
    });
    beforeEach(() => {
      service.upstream.script();
    });
    after(() => service.stop());

    function sent(): Asked {
      expect(service.upstream.asked).to.have.length(1);
      const [asked] = service.upstream.asked;
      expect(expected.valid(asked?.body), JSON.stringify(expected.valid.errors)).to.equal(true);
      return asked!;
    }

    it('answers one vector per text in their order, usage, display name and model', async () => {
      const { status, body, headers } = await service.embed({ provider, model, input: texts });
      expect(status).to.equal(200);
      expect(body).to.have.all.keys('embeddings', 'usage', 'provider', 'model');
      expect(body.embeddings).to.deep.equal(texts.map((text) => vectorOf(text)));
      expect(body.usage).to.have.all.keys('input_tokens', 'total_tokens');
      expect([body.provider, body.model]).to.deep.equal([expected.label, expected.answeredBy]);
      expect(headers.get('x-svc-ignored-params')).to.equal(null);
    });

    it('sends the key and nothing that was not asked for, and asks for floats (contract 4.4)', async () => {
      await service.embed({ provider, model, input: texts });
      const { path, headers, body } = sent();
      expect([path, headers[expected.key[0]]]).to.deep.equal([expected.path, expected.key[1]]);
      expect(body).to.deep.equal(expected.plain);
    });

    it('sends every field it takes under its own name, and names the others as ignored', async () => {
      const { status, body, headers } = await service.embed({ provider, model, input: texts, ...fields });
      expect(status).to.equal(200);
      expect(sent().body).to.deep.equal(expected.full);
      expect(headers.get('x-svc-ignored-params')).to.equal(expected.ignored);
      expect(body.embeddings).to.deep.equal(texts.map((text) => vectorOf(text, expected.dimensions)));
    });

    it('takes a single text', async () => {
      const { body } = await service.embed({ provider, model, input: 'alone' });
      expect(body.embeddings).to.deep.equal([vectorOf('alone')]);
    });
  });
}

describe('POST /embeddings', () => {
  let service: EmbeddingService;
  before(async () => {
    service = await startEmbeddingService();
  });
  beforeEach(() => {
    service.upstream.script();
  });
  after(() => service.stop());
  const request = { provider: 'openai', model: 'text-embedding-3-small', input: texts };

  it('passes every task type of the contract on to Google, and refuses others', async () => {
    const types = ['SEMANTIC_SIMILARITY', 'CLASSIFICATION', 'CLUSTERING', 'RETRIEVAL_DOCUMENT', 'RETRIEVAL_QUERY'];
    types.push('QUESTION_ANSWERING', 'FACT_VERIFICATION', 'CODE_RETRIEVAL_QUERY');
    const google = { provider: 'google', model: googleModel, input: 'alone' };
    for (const task_type of types)
      expect((await service.embed({ ...google, task_type })).status, task_type).to.equal(200);
    expect(
      service.upstream.asked.map(({ body }) => (body['requests'] as { taskType: string }[])[0]?.taskType),
    ).to.deep.equal(types);
    expect((await service.embed({ ...google, task_type: 'TRANSLATION' })).status).to.equal(400);
  });

  it('gives the same numbers for base64 and float, to 1e-6 (contract 4.4)', async () => {
    const [float, base64] = [
      await service.embed({ ...request, encoding_format: 'float' }),
      await service.embed({ ...request, encoding_format: 'base64' }),
    ];
    expect(service.upstream.asked.map(({ body }) => body['encoding_format'])).to.deep.equal(['float', 'base64']);
    texts.forEach((_text, input) => {
      float.body.embeddings[input].forEach((value: number, place: number) =>
        expect(base64.body.embeddings[input][place]).to.be.closeTo(value, 1e-6),
      );
    });
  });

  it('gives the right numbers when an upstream answers floats though base64 was asked, and the other way round', async () => {
    for (const [asked, answered] of [
      ['base64', 'float'],
      ['float', 'base64'],
    ] as const) {
      service.upstream.script((one) => ({ body: openAiAnswer({ body: { ...one.body, encoding_format: answered } }) }));
      const { body } = await service.embed({ ...request, encoding_format: asked });
      expect(body.embeddings, `${answered} for ${asked}`).to.deep.equal(texts.map((text) => vectorOf(text)));
    }
  });

  it('gives numbers of every size as they came', async () => {
    const vector = [
      0, -0, 1, -1, 0.1, -0.5, 1.5, 123.25, -3e-9, 1e-30, 3.4e38, 0.099999994, 9.9999994e-5, 1e-6, 0.999999940395,
    ].map(Math.fround);
    const bytes = Buffer.from(Float32Array.from(vector).buffer).toString('base64');
    for (const embedding of [vector, bytes]) {
      service.upstream.script(() => ({
        body: {
          object: 'list',
          model: 'm',
          data: [{ object: 'embedding', index: 0, embedding }],
          usage: { prompt_tokens: 1, total_tokens: 1 },
        },
      }));
      const { body } = await service.embed({ ...request, input: 'x' });
      expect(body.embeddings[0].map(Math.fround)).to.deep.equal(vector.map((value) => (value === 0 ? 0 : value)));
    }
  });

  it('puts the vectors in the order of their index', async () => {
    service.upstream.script((one) => {
      const answer = openAiAnswer(one);
      return { body: { ...answer, data: [...(answer['data'] as unknown[])].reverse() } };
    });
    expect((await service.embed(request)).body.embeddings).to.deep.equal(texts.map((text) => vectorOf(text)));
  });

  it('passes the usage on, and counts it itself, and says so, where none came', async () => {
    const told = await service.embed(request);
    expect([told.body.usage, told.headers.get('x-svc-usage-estimated')]).to.deep.equal([
      { input_tokens: 9, total_tokens: 9 },
      null,
    ]);
    service.upstream.script((one) => ({ body: { ...openAiAnswer(one), usage: undefined } }));
    const counted = await service.embed({ ...request, input: ['hello world', 'one two three'] });
    expect([counted.body.usage, counted.headers.get('x-svc-usage-estimated')]).to.deep.equal([
      { input_tokens: 5, total_tokens: 5 },
      'true',
    ]);
  });

  it('takes the usage that Google reports where it does', async () => {
    const google = { ...request, provider: 'google', model: googleModel };
    expect((await service.embed(google)).headers.get('x-svc-usage-estimated')).to.equal('true');
    service.upstream.script((one) => ({
      body: { ...googleAnswer(one), usageMetadata: { promptTokenCount: 11, totalTokenCount: 11 } },
    }));
    const { body, headers } = await service.embed(google);
    expect([body.usage, headers.get('x-svc-usage-estimated')]).to.deep.equal([
      { input_tokens: 11, total_tokens: 11 },
      null,
    ]);
  });

  it('leaves dimensions out where the model has one size', async () => {
    const { headers } = await service.embed({ ...request, model: 'text-embedding-ada-002', dimensions: 256 });
    expect(service.upstream.asked[0]?.body).not.to.have.property('dimensions');
    expect(headers.get('x-svc-ignored-params')).to.equal('dimensions');
  });

  it('runs the filters around the call', async () => {
    const { hooks } = service.host;
    const undo = [
      hooks.addFilter('svc_embeddings_request', async (call) => ({
        ...call,
        input: ['from a filter'],
        user: 'filtered',
      })),
      hooks.addFilter('svc_embeddings_response', (answer, call) => ({
        ...answer,
        model: `${answer.model} for ${call.user}`,
      })),
    ];
    const { body } = await service.embed(request);
    undo.forEach((one) => one());
    expect(service.upstream.asked[0]?.body)
      .to.include({ user: 'filtered' })
      .and.deep.include({ input: ['from a filter'] });
    expect(body.embeddings).to.deep.equal([vectorOf('from a filter')]);
    expect(body.model).to.equal('text-embedding-3-small-answered for filtered');
  });

  it('shows the answer to the host’s own filters, fields and envelopes', async () => {
    expect((await service.embed(request, { query: '?_fields=model,usage' })).body).to.have.all.keys('model', 'usage');
    const enveloped = await service.embed(request, { query: '?_envelope' });
    expect(enveloped.body.body.embeddings).to.deep.equal(texts.map((text) => vectorOf(text)));
    const undo = service.host.hooks.addFilter('rest_post_dispatch', (response) =>
      Object.assign(response, {
        body: { ...(response.body as object), seen: (response.body as { embeddings: unknown[] }).embeddings.length },
      }),
    );
    expect((await service.embed(request)).body).to.include({ seen: 3 });
    undo();
  });

  it('takes the providers of the contract and those of other plugins, and no others', async () => {
    const own = {
      id: 'acme',
      label: 'Acme',
      required: [],
      settings: { type: 'object' as const, properties: {} },
      listModels: () => Promise.resolve([]),
      embeddings: {
        limits: { inputs: 2 },
        embed: ({ input, model }: { input: readonly string[]; model: string }) =>
          Promise.resolve({
            embeddings: input.map(() => [1, 2]),
            usage: { input_tokens: 1, total_tokens: 1 },
            model,
            ignored: [],
          }),
      },
    };
    const refused = await service.embed({ ...request, provider: 'acme' });
    expect([refused.status, refused.body.data.params.provider]).to.deep.equal([
      400,
      'provider is not one of openai, azure, google, and openrouter.',
    ]);
    expect((await service.embed({ ...request, provider: 'ollama' })).status).to.equal(400);
    const undo = service.host.hooks.addFilter('svc_providers', (providers) => [...providers, own]);
    const { status, body } = await service.embed({ ...request, provider: 'acme', model: 'acme-1' });
    undo();
    expect([status, body]).to.deep.equal([
      200,
      {
        embeddings: [
          [1, 2],
          [1, 2],
          [1, 2],
        ],
        usage: { input_tokens: 2, total_tokens: 2 },
        provider: 'Acme',
        model: 'acme-1',
      },
    ]);
  });
});
