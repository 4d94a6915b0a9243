import { GoogleGenAI } from '@google/genai';
import { expect } from 'chai';
import OpenAI, { AzureOpenAI } from 'openai';
import { expectShape } from '../helpers/answer-schemas.ts';
import { call } from '../helpers/call.ts';
import { openSandbox } from '../helpers/open-sandbox.ts';
import type { OpenSandbox } from '../helpers/open-sandbox.ts';
import { failure } from '../stores/helpers.ts';

const quiet = { apiKey: 'sandbox', maxRetries: 0, logLevel: 'off' } as const;

describe('embeddings of the sandbox, asked through the real SDKs', () => {
  let sandbox: OpenSandbox;
  before(async () => {
    sandbox = await openSandbox();
  });
  after(() => sandbox.close());
  afterEach(() => {
    sandbox.turn({});
  });

  const at = (path: string): OpenAI => new OpenAI({ ...quiet, baseURL: sandbox.url + path });
  const clients: readonly (readonly [string, () => OpenAI, string, number])[] = [
    ['openai', () => at('/openai/v1'), 'text-embedding-3-small', 1536],
    ['openai large', () => at('/openai/v1'), 'text-embedding-3-large', 3072],
    ['openrouter', () => at('/openrouter/api/v1'), 'openai/text-embedding-3-small', 1536],
    ['azure v1', () => at('/azure/openai/v1'), 'text-embedding-3-small', 1536],
    [
      'azure classic',
      () => new AzureOpenAI({ ...quiet, endpoint: `${sandbox.url}/azure`, apiVersion: '2024-10-21' }),
      'my-embedding-3-large',
      3072,
    ],
    ['ollama', () => at('/ollama/v1'), 'nomic-embed-text', 768],
  ];

  for (const [name, client, model, dimension] of clients) {
    it(`${name}: one vector for each input, in their order, of the model's length, floats and base64 alike`, async () => {
      const input = ['first text', 'second text', 'first text'];
      const floats = await client().embeddings.create({ model, input, encoding_format: 'float' });
      expectShape('openai-embeddings', 'CreateEmbeddingResponse', { value: floats });
      expect(floats.data.map(({ index }) => index)).to.deep.equal([0, 1, 2]);
      expect(floats.data.map(({ embedding }) => embedding.length)).to.deep.equal([dimension, dimension, dimension]);
      expect(floats.data[0]!.embedding).to.deep.equal(floats.data[2]!.embedding);
      expect(floats.data[0]!.embedding).not.to.deep.equal(floats.data[1]!.embedding);
      expect(floats.usage).to.include({ prompt_tokens: 9, total_tokens: 9 });
      const encoded = await client().embeddings.create({ model, input, encoding_format: 'base64' });
      const bytes = Buffer.from(encoded.data[1]!.embedding as unknown as string, 'base64');
      expect(Array.from(new Float32Array(new Uint8Array(bytes).buffer))).to.deep.equal(floats.data[1]!.embedding);
    });
  }

  it('are as short as is asked, where the model can', async () => {
    const { data } = await at('/openai/v1').embeddings.create({
      model: 'text-embedding-3-small',
      input: 'x',
      dimensions: 256,
      encoding_format: 'float',
    });
    expect(data[0]!.embedding).to.have.lengthOf(256);
    const refused = (params: object) =>
      failure(
        at('/openai/v1').embeddings.create({
          model: 'text-embedding-3-small',
          input: 'x',
          encoding_format: 'float',
          ...params,
        }),
      );
    expect(await refused({ dimensions: 2000 }))
      .to.include({ status: 400 })
      .and.have.property('message')
      .that.contains('Must be less than or equal to 1536');
    expect((await refused({ model: 'text-embedding-ada-002', dimensions: 10 })).message).to.contain(
      'does not support specifying dimensions',
    );
    expect((await refused({ input: '' })).message).to.contain('is invalid');
    expect((await refused({ input: Array.from({ length: 2049 }, () => 'x') })).message).to.contain(
      'maximum length 2048',
    );
    expect((await refused({ input: 'x'.repeat(40_000) })).message).to.contain('maximum context length is 8192 tokens');
    expect((await refused({ input: Array.from({ length: 100 }, () => 'x'.repeat(16_000)) })).message).to.contain(
      'max 300000 tokens per request',
    );
    expect(await refused({ model: 'missing-model' })).to.include({ status: 404 });
  });

  it('google: one text or several, as long as is asked, with a task', async () => {
    const google = new GoogleGenAI({ apiKey: 'sandbox', httpOptions: { baseUrl: `${sandbox.url}/google` } });
    const embed = async (contents: string[], config: object) =>
      (await google.models.embedContent({ model: 'gemini-embedding-001', contents, config })).embeddings!.map(
        ({ values }) => values!,
      );
    const whole = await embed(['first text', 'second text'], {});
    expect(whole.map((values) => values.length)).to.deep.equal([3072, 3072]);
    expect(
      (await embed(['second text'], { taskType: 'RETRIEVAL_QUERY', outputDimensionality: 768 }))[0],
    ).to.have.lengthOf(768);
    expect((await failure(embed(['x'], { taskType: 'GUESSING' }))).message).to.contain("Invalid value at 'task_type'");
    expect((await failure(embed(['x'], { outputDimensionality: 4000 }))).message).to.contain('between 1 and 3072');
    expect(
      (
        await failure(
          embed(
            Array.from({ length: 101 }, () => 'x'),
            {},
          ),
        )
      ).message,
    ).to.contain('at most 100 requests');
    const headers = { 'x-goog-api-key': 'sandbox' };
    const request = { model: 'models/gemini-embedding-001', content: { parts: [{ text: 'second text' }] } };
    const single = await call(`${sandbox.url}/google/v1beta/models/gemini-embedding-001:embedContent`, {
      headers,
      body: request,
    });
    expect(single.json).to.deep.equal({ embedding: { values: whole[1] } });
    const batch = await call(`${sandbox.url}/google/v1beta/models/gemini-embedding-001:batchEmbedContents`, {
      headers,
      body: { requests: [request] },
    });
    expectShape('gemini-embeddings', 'BatchEmbedContentsResponse', { value: batch.json });
  });

  it('ollama: by its own interface too', async () => {
    const { json } = await call(`${sandbox.url}/ollama/api/embed`, {
      body: { model: 'all-minilm', input: ['a', 'b'] },
    });
    expectShape('ollama', 'EmbedResponse', { value: json });
    expect((json as { embeddings: number[][] }).embeddings.map((vector) => vector.length)).to.deep.equal([384, 384]);
  });

  it('obey the fault settings and a model name that forces a fault', async () => {
    const ask = (model: string) =>
      failure(at('/openai/v1').embeddings.create({ model, input: 'x', encoding_format: 'float' }));
    expect(await ask('fault-429')).to.have.property('status', 429);
    expect(await ask('fault-cut')).to.be.instanceOf(Error);
    sandbox.turn({ fault: '500' });
    expect(await ask('any')).to.have.property('status', 500);
  });
});
