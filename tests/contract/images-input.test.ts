import { expect } from 'chai';
import { picture, startImagesService, type ImagesService } from './images-service.ts';
import type { Answer } from './service.ts';

const prompt = 'A lighthouse at dusk';
const good = { prompt, model: 'dall-e-3' };

describe('what POST /images/generate takes', () => {
  let service: ImagesService;
  before(async () => {
    service = await startImagesService();
  });
  beforeEach(() => {
    service.upstream.answer(({ body: { n } }) => ({
      body: {
        created: 1,
        data: Array.from({ length: Number(n) }, () => ({ url: 'https://images.example.com/x.png' })),
      },
    }));
  });
  after(() => service.stop());

  const refused = (answer: Answer, name: string): void => {
    expect([answer.status, answer.body.code, Object.keys(answer.body.data.params)]).to.deep.equal([
      400,
      'rest_invalid_param',
      [name],
    ]);
    expect(service.upstream.calls).to.have.length(0);
  };

  it('needs a prompt', async () => {
    const { status, body } = await service.generate({ model: 'dall-e-3' });
    expect([status, body.code, body.data.params]).to.deep.equal([400, 'rest_missing_callback_param', ['prompt']]);
  });

  for (const blank of ['', ' ', '\n\t']) {
    it(`is no blank prompt: ${JSON.stringify(blank)}`, async () => {
      const { status, body } = await service.generate({ ...good, prompt: blank });
      expect([status, body.code, body.message]).to.deep.equal([
        400,
        'rest_svc_empty_input',
        'prompt must not be blank.',
      ]);
      expect(service.upstream.calls).to.have.length(0);
    });
  }

  for (const n of [0, -1, 11, 1.5, 'many']) {
    it(`is no n of ${JSON.stringify(n)}`, async () => {
      refused(await service.generate({ ...good, n }), 'n');
    });
  }

  it('is an n of 1 to 10, also as text', async () => {
    for (const n of [1, 10, '2']) {
      const { status, body } = await service.generate({ ...good, n });
      expect([status, body.images.length]).to.deep.equal([200, Number(n)]);
    }
  });

  for (const size of [
    'large',
    '1024',
    '1024x',
    'x1024',
    '1024X1024',
    '0x0',
    '1024x1024x3',
    '1024 x 1024',
    '-1x1',
    '',
    '999999x1',
  ]) {
    it(`is no size of ${JSON.stringify(size)}`, async () => {
      refused(await service.generate({ ...good, size }), 'size');
    });
  }

  for (const size of [
    '1024x1024',
    '1792x1024',
    '1024x1792',
    '1536x1024',
    '1024x1536',
    '1024x768',
    '768x1024',
    '640x480',
    '3840x2160',
  ]) {
    it(`is a size of ${size}, passed on for the provider to judge`, async () => {
      expect((await service.generate({ ...good, size })).status).to.equal(200);
      expect(service.upstream.calls[0]?.body['size']).to.equal(size);
    });
  }

  for (const [name, wrong] of [
    ['quality', 'high'],
    ['style', 'cubist'],
    ['response_format', 'png'],
    ['provider', 'claude'],
    ['provider', 'xai'],
    ['provider', 'openrouter'],
    ['provider', 'nobody'],
    ['model', ['a']],
  ] as const) {
    it(`is no ${name} of ${JSON.stringify(wrong)}`, async () => {
      refused(await service.generate({ ...good, [name]: wrong }), name);
    });
  }

  it('lists every wrong field at once', async () => {
    const { body } = await service.generate({ prompt, n: 99, size: 'big', quality: 'best' });
    expect(Object.keys(body.data.params)).to.have.members(['n', 'size', 'quality']);
  });

  it('asks for the key before anything else', async () => {
    const response = await service.host.fetch('/wp-json/svc/v1/images/generate', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"n":99}',
    });
    expect([response.status, ((await response.json()) as { code: string }).code]).to.deep.equal([
      401,
      'rest_svc_invalid_api_key',
    ]);
  });

  it('takes the saved image model where a call names none, or a blank one, and says what is missing where none is saved', async () => {
    service.upstream.answer(() => ({ body: { created: 1, data: [{ b64_json: picture() }] } }));
    await service.host.options.update('svc_provider_openai', { image_model: 'gpt-image-1-mini' });
    for (const model of [undefined, ' ']) await service.generate({ prompt, ...(model !== undefined && { model }) });
    await service.host.options.delete('svc_provider_openai');
    expect(service.upstream.calls.map(({ body }) => body['model'])).to.deep.equal([
      'gpt-image-1-mini',
      'gpt-image-1-mini',
    ]);
    const { status, body } = await service.generate({ prompt, provider: 'azure' });
    expect([status, body.code, body.message]).to.deep.equal([
      400,
      'rest_svc_provider_not_configured',
      'Azure is not configured. Save its Image deployment in the admin under AI service.',
    ]);
  });

  it('describes itself to OPTIONS with the three providers of the contract', async () => {
    const response = await service.host.fetch('/wp-json/svc/v1/images/generate', { method: 'OPTIONS' });
    const { endpoints } = (await response.json()) as {
      endpoints: { args: Record<string, { enum?: string[]; required?: boolean; default?: unknown }> }[];
    };
    const args = endpoints[0]?.args ?? {};
    expect(Object.keys(args)).to.deep.equal([
      'prompt',
      'provider',
      'model',
      'n',
      'size',
      'quality',
      'style',
      'response_format',
    ]);
    expect([
      args['provider']?.enum,
      args['provider']?.default,
      args['n']?.default,
      args['response_format']?.default,
    ]).to.deep.equal([['openai', 'azure', 'google'], 'openai', 1, 'url']);
  });

  it('offers a provider that another plugin adds, and refuses it once it is gone', async () => {
    const painter = {
      id: 'painter',
      label: 'Painter',
      required: [],
      settings: { type: 'object' as const, properties: {} },
      images: {
        perCall: () => 2,
        generate: async ({ prompt: text, n, model }: { prompt: string; n: number; model: string }) => ({
          images: Array.from({ length: n }, () => ({
            url: null,
            b64_json: picture(5),
            revised_prompt: text.toUpperCase(),
            mimeType: null,
          })),
          usage: null,
          model,
          ignored: ['style'],
        }),
      },
      listModels: async () => [],
    };
    const undo = service.host.hooks.addFilter('svc_providers', (providers) => [...providers, painter]);
    const offered = await service.generate({
      prompt,
      provider: 'painter',
      model: 'oil',
      n: 3,
      response_format: 'b64_json',
    });
    expect([offered.status, offered.body.message, offered.body.images[2].revised_prompt]).to.deep.equal([
      200,
      '3 images generated.',
      prompt.toUpperCase(),
    ]);
    expect(offered.headers.get('x-svc-ignored-params')).to.equal('style');
    expect(await offeredInOpenApi(service)).to.deep.equal(['openai', 'azure', 'google', 'painter']);
    undo();
    refused(await service.generate({ prompt, provider: 'painter', model: 'oil' }), 'provider');
  });

  it('takes a plugin’s provider in the place of one of ours that the contract leaves out', async () => {
    const undo = service.host.hooks.addFilter('svc_providers', (providers) =>
      providers.map((provider) => (provider.id === 'xai' ? { ...provider, label: 'Another xAI' } : provider)),
    );
    const { status } = await service.generate({ ...good, provider: 'xai', model: 'grok-2-image' });
    undo();
    expect(status).to.equal(200);
  });

  it('hands the request and the answer to filters of other plugins', async () => {
    const undoRequest = service.host.hooks.addFilter('svc_images_request', (call) => ({
      ...call,
      prompt: `${call.prompt}, in oil`,
      n: 2,
    }));
    const undoResponse = service.host.hooks.addFilter('svc_images_response', async (answer, call) => ({
      ...answer,
      message: `${answer.message} (${call.prompt})`,
    }));
    const { body } = await service.generate({ ...good, model: 'dall-e-2' });
    undoRequest();
    undoResponse();
    expect([body.images.length, body.message]).to.deep.equal([2, '2 images generated. (A lighthouse at dusk, in oil)']);
    expect(service.upstream.calls[0]?.body['prompt']).to.equal('A lighthouse at dusk, in oil');
  });
});

async function offeredInOpenApi({ host }: ImagesService): Promise<readonly string[] | undefined> {
  const { paths } = (await host.rest.openapi('svc/v1'))!;
  const { requestBody } = paths['/images/generate']!['post'] as {
    requestBody: { content: Record<string, { schema: { properties: Record<string, { enum?: string[] }> } }> };
  };
  return requestBody.content['application/json']?.schema.properties['provider']?.enum;
}
