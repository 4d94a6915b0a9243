import { GoogleGenAI } from '@google/genai';
import { expect } from 'chai';
import OpenAI, { AzureOpenAI } from 'openai';
import type { ImageGenerateParamsNonStreaming, ImagesResponse } from 'openai/resources/images';
import { expectShape } from '../helpers/answer-schemas.ts';
import { call } from '../helpers/call.ts';
import { openSandbox } from '../helpers/open-sandbox.ts';
import type { OpenSandbox } from '../helpers/open-sandbox.ts';
import { failure } from '../stores/helpers.ts';
import { readPng } from './read-png.ts';

const quiet = { apiKey: 'sandbox', maxRetries: 0, logLevel: 'off' } as const;

describe('pictures of the sandbox, asked for through the real SDKs', () => {
  let sandbox: OpenSandbox;
  before(async () => {
    sandbox = await openSandbox();
  });
  after(() => sandbox.close());
  afterEach(() => {
    sandbox.turn({});
  });

  const at = (path: string): OpenAI => new OpenAI({ ...quiet, baseURL: sandbox.url + path });
  const generate = (params: object, client = at('/openai/v1')): Promise<ImagesResponse> =>
    client.images.generate({ prompt: 'A red lighthouse', ...params } as ImageGenerateParamsNonStreaming);
  const fetched = async (url: string) => {
    const response = await fetch(url);
    expect(response.headers.get('content-type')).to.equal('image/png');
    return readPng(Buffer.from(await response.arrayBuffer()));
  };
  const decoded = (base64: string) => readPng(Buffer.from(base64, 'base64'));

  it('dall-e-3: an address that can be fetched, and the prompt as revised', async () => {
    const answer = await generate({ model: 'dall-e-3', size: '1792x1024', quality: 'hd', style: 'natural' });
    expectShape('openai-images', 'ImagesResponse', { value: answer });
    const [image] = answer.data!;
    expect(image).to.have.property('revised_prompt').that.contains('A red lighthouse');
    expect(image!.url).to.match(new RegExp(`^${sandbox.url}/images/1792x1024-`));
    expect(await fetched(image!.url!)).to.include({ width: 1792, height: 1024 });
    const [encoded] = (await generate({ model: 'dall-e-3', response_format: 'b64_json' })).data!;
    expect(encoded).to.not.have.property('url');
    expect(decoded(encoded!.b64_json!)).to.include({ width: 1024, height: 1024 });
  });

  it('dall-e-2: several at once, each another', async () => {
    const { data } = await generate({ model: 'dall-e-2', n: 3, size: '256x256' });
    expect(new Set(data!.map(({ url }) => url)).size).to.equal(3);
    for (const { url } of data!) expect(await fetched(url!)).to.include({ width: 256, height: 256 });
  });

  it('gpt-image: base64 alone, with its usage', async () => {
    const answer = await generate({ model: 'gpt-image-1', n: 2, size: '1024x1536', quality: 'high' });
    expectShape('openai-images', 'ImagesResponse', { value: answer });
    expect(answer).to.deep.include({ size: '1024x1536', quality: 'high', output_format: 'png' });
    expect(answer.usage).to.deep.include({ input_tokens: 4, output_tokens: 8320, total_tokens: 8324 });
    expect(answer.data!.map((image) => Object.keys(image))).to.deep.equal([['b64_json'], ['b64_json']]);
    expect(decoded(answer.data![0]!.b64_json!)).to.include({ width: 1024, height: 1536 });
    expect(decoded((await generate({ model: 'gpt-image-2', size: '1536x864' })).data![0]!.b64_json!)).to.include({
      width: 1536,
      height: 864,
    });
  });

  it('refuses what a model does not take, with the statuses and words of the real ones', async () => {
    const cases: readonly (readonly [object, string])[] = [
      [{ model: 'dall-e-3', n: 2 }, 'You must provide n=1 for this model.'],
      [{ model: 'dall-e-2', n: 11 }, 'Expected a value <= 10'],
      [{ model: 'dall-e-2', n: 0 }, 'Expected a value >= 1'],
      [{ model: 'dall-e-2', size: '1792x1024' }, "Invalid value: '1792x1024'"],
      [{ model: 'dall-e-3', size: '512x512' }, "Invalid value: '512x512'"],
      [{ model: 'dall-e-3', quality: 'ultra' }, "Invalid value: 'ultra'"],
      [{ model: 'dall-e-3', style: 'sad' }, "Invalid value: 'sad'"],
      [{ model: 'gpt-image-1', response_format: 'url' }, "Unknown parameter: 'response_format'."],
      [{ model: 'gpt-image-1', style: 'vivid' }, "Unknown parameter: 'style'."],
      [{ model: 'gpt-image-1', quality: 'hd' }, "Invalid value: 'hd'"],
      [{ model: 'gpt-image-2', size: '1000x1000' }, 'divisible by 16'],
      [{ model: 'dall-e-2', prompt: 'x'.repeat(1001) }, 'maximum length 1000'],
      [{ model: 'dall-e-3', prompt: '' }, "Invalid 'prompt'"],
    ];
    for (const [params, message] of cases) {
      const error = await failure(generate(params));
      expect(error, JSON.stringify(params)).to.include({ status: 400 });
      expect(error.message).to.contain(message);
    }
    expect(await failure(generate({ model: 'missing-model' }))).to.include({ status: 404 });
  });

  it('azure: both interfaces, with the results of the content filter', async () => {
    const classic = new AzureOpenAI({
      ...quiet,
      endpoint: `${sandbox.url}/azure`,
      apiVersion: '2024-10-21',
      deployment: 'Dalle3',
    });
    for (const answer of [await generate({}, classic), await generate({ model: 'dall-e-3' }, at('/azure/openai/v1'))]) {
      expect(answer).to.have.nested.property('data[0].content_filter_results.hate.severity', 'safe');
      expect(await fetched(answer.data![0]!.url!)).to.include({ width: 1024 });
    }
  });

  it('xai: a shape and a resolution in place of a size', async () => {
    const answer = await generate(
      { model: 'grok-imagine-image', n: 2, aspect_ratio: '16:9', resolution: '2k' },
      at('/xai/v1'),
    );
    expect(answer.data).to.have.lengthOf(2);
    expect(await fetched(answer.data![1]!.url!)).to.include({ width: 2736, height: 1536 });
    expect(
      (await failure(generate({ model: 'grok-2-image-1212', size: '1024x1024' }, at('/xai/v1')))).message,
    ).to.contain('Argument not supported: size');
    expect(await failure(generate({ model: 'grok-imagine-image', aspect_ratio: '7:1' }, at('/xai/v1')))).to.include({
      status: 400,
    });
  });

  it('openrouter: in the message of a chat completion', async () => {
    const ask = (params: object) =>
      at('/openrouter/api/v1').chat.completions.create({
        messages: [{ role: 'user', content: 'A red lighthouse' }],
        ...params,
      } as never) as Promise<OpenAI.ChatCompletion>;
    const answer = await ask({
      model: 'google/gemini-2.5-flash-image',
      modalities: ['image', 'text'],
      image_config: { aspect_ratio: '3:2' },
    });
    expectShape('openai', 'CreateChatCompletionResponse', { value: answer });
    const [image] = (
      answer.choices[0]!.message as unknown as { images: { type: string; image_url: { url: string } }[] }
    ).images;
    expect(image!.type).to.equal('image_url');
    expect(decoded(image!.image_url.url.replace('data:image/png;base64,', ''))).to.include({
      width: 1248,
      height: 832,
    });
    expect(
      (await ask({ model: 'black-forest-labs/flux.2-pro', modalities: ['image'] })).choices[0]!.message.content,
    ).to.equal('');
    expect(await failure(ask({ model: 'black-forest-labs/flux.2-pro', modalities: ['image', 'text'] }))).to.include({
      status: 404,
    });
    expect(await failure(ask({ model: 'openai/gpt-5.4-mini', modalities: ['image'] }))).to.include({ status: 404 });
    expect(
      await failure(
        ask({
          model: 'google/gemini-2.5-flash-image',
          modalities: ['image', 'text'],
          image_config: { aspect_ratio: '7:1' },
        }),
      ),
    ).to.include({ status: 400 });
    const models = async (query: string) =>
      ((await call(`${sandbox.url}/openrouter/api/v1/${query}`)).json as { data: { id: string }[] }).data.map(
        ({ id }) => id,
      );
    expect(await models('models?output_modalities=image')).to.deep.equal([
      'google/gemini-2.5-flash-image',
      'black-forest-labs/flux.2-pro',
    ]);
    expect(await models('embeddings/models')).to.include('openai/text-embedding-3-small');
  });

  it('google: by generateContent of Gemini, and by predict of Imagen', async () => {
    const google = new GoogleGenAI({ apiKey: 'sandbox', httpOptions: { baseUrl: `${sandbox.url}/google` } });
    const ask = (model: string, config: object) =>
      google.models.generateContent({ model, contents: 'A red lighthouse', config });
    const answer = await ask('gemini-2.5-flash-image', {
      responseModalities: ['TEXT', 'IMAGE'],
      imageConfig: { aspectRatio: '16:9' },
    });
    const [words, picture] = answer.candidates![0]!.content!.parts!;
    expect(words!.text).to.contain('sandbox');
    expect(picture!.inlineData!.mimeType).to.equal('image/png');
    expect(decoded(picture!.inlineData!.data!)).to.include({ width: 1360, height: 768 });
    expect(
      (await ask('gemini-3-pro-image', { responseModalities: ['IMAGE'], imageConfig: { imageSize: '2K' } }))
        .candidates![0]!.content!.parts,
    ).to.have.lengthOf(1);
    expect((await failure(ask('gemini-2.5-flash', { responseModalities: ['IMAGE'] }))).message).to.contain(
      'Multi-modal output is not supported.',
    );
    expect(await failure(ask('gemini-2.5-flash-image', { imageConfig: { aspectRatio: '7:1' } }))).to.include({
      status: 400,
    });
    const headers = { 'x-goog-api-key': 'sandbox' };
    const raw = await call(`${sandbox.url}/google/v1beta/models/gemini-2.5-flash-image:generateContent`, {
      headers,
      body: { contents: [{ parts: [{ text: 'x' }] }] },
    });
    expectShape('gemini', 'GenerateContentResponse', { value: raw.json });
    const predict = (parameters: object) =>
      call(`${sandbox.url}/google/v1beta/models/imagen-4.0-generate-001:predict`, {
        headers,
        body: { instances: [{ prompt: 'A red lighthouse' }], parameters },
      });
    const { json } = await predict({ sampleCount: 2, aspectRatio: '3:4' });
    expectShape('gemini-images', 'PredictResponse', { value: json });
    const { predictions } = json as { predictions: { mimeType: string; bytesBase64Encoded: string }[] };
    expect(predictions.map(({ mimeType }) => mimeType)).to.deep.equal(['image/png', 'image/png']);
    expect(decoded(predictions[1]!.bytesBase64Encoded)).to.include({ width: 880, height: 1184 });
    expect((await predict({ sampleCount: 5 })).status).to.equal(400);
  });

  it('come from addresses that hold all they are made of; others are not found', async () => {
    const [image] = (await generate({ model: 'dall-e-2', size: '256x256' })).data!;
    const again = await openSandbox();
    expect((await fetch(image!.url!.replace(sandbox.url, again.url))).status).to.equal(200);
    await again.close();
    for (const path of ['nope.png', '99999x16-0123456789abcdef0123456789abcdef-.png', ''])
      expect((await fetch(`${sandbox.url}/images/${path}`)).status, path).to.equal(404);
  });

  it('obey the fault settings and a model name that forces a fault', async () => {
    expect(await failure(generate({ model: 'fault-429' }))).to.have.property('status', 429);
    expect(await failure(generate({ model: 'fault-cut' }))).to.be.instanceOf(Error);
    const [image] = (await generate({ model: 'dall-e-2' })).data!;
    sandbox.turn({ fault: '500' });
    expect(await failure(generate({ model: 'any' }))).to.have.property('status', 500);
    expect((await fetch(image!.url!)).status).to.equal(500);
    expect(sandbox.server.recent()[0]).to.include({ provider: 'images', status: 500 });
  });
});
