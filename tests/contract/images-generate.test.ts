import { expect } from 'chai';
import { png } from './images-upstream.ts';
import { failed, farKey, picture, startImagesService, type ImagesService } from './images-service.ts';

const prompt = 'A lighthouse at dusk';

describe('POST /images/generate', () => {
  let service: ImagesService;
  before(async () => {
    service = await startImagesService();
  });
  beforeEach(() => {
    service.upstream.answer((_call, place) => ({
      body: {
        created: 1,
        data: [{ url: `https://images.example.com/${String(place)}.png`, revised_prompt: `Revised ${String(place)}` }],
      },
    }));
  });
  after(() => service.stop());

  it('answers exactly images, usage and message, each image with its three keys', async () => {
    const { status, body, headers } = await service.generate({ prompt, model: 'dall-e-3' });
    expect(status).to.equal(200);
    expect(body).to.deep.equal({
      images: [{ url: 'https://images.example.com/0.png', b64_json: null, revised_prompt: 'Revised 0' }],
      usage: null,
      message: '1 image generated.',
    });
    expect(headers.get('x-svc-ignored-params')).to.equal(null);
  });

  it('asks openai, the saved model, for one image by address when nothing is said', async () => {
    service.upstream.answer(() => ({ body: { created: 1, data: [{ b64_json: picture() }] } }));
    await service.generate({ prompt });
    expect(service.upstream.calls.map(({ path, body }) => [path, body])).to.deep.equal([
      ['/v1/images/generations', { model: 'gpt-image-2', prompt, n: 1 }],
    ]);
    expect(service.upstream.calls[0]?.headers['authorization']).to.equal(`Bearer ${farKey}`);
  });

  it('sends every field on', async () => {
    await service.generate({
      prompt,
      provider: 'openai',
      model: 'dall-e-3',
      n: 1,
      size: '1792x1024',
      quality: 'hd',
      style: 'natural',
      response_format: 'url',
    });
    expect(service.upstream.calls[0]?.body).to.deep.equal({
      model: 'dall-e-3',
      prompt,
      n: 1,
      size: '1792x1024',
      quality: 'hd',
      style: 'natural',
      response_format: 'url',
    });
  });

  it('sends every size of the contract on', async () => {
    const sizes = ['1024x1024', '1792x1024', '1024x1792', '1536x1024', '1024x1536', '1024x768', '768x1024'];
    for (const size of sizes) await service.generate({ prompt, model: 'dall-e-3', size });
    expect(service.upstream.calls.map(({ body }) => body['size'])).to.deep.equal(sizes);
  });

  it('takes size, quality and style from the settings where a call names none', async () => {
    await service.host.options.update('svc_image_defaults', { size: '1024x1792', quality: 'hd', style: 'vivid' });
    await service.generate({ prompt, model: 'dall-e-3' });
    await service.generate({ prompt, model: 'dall-e-3', size: '1024x1024', quality: 'standard', style: 'natural' });
    await service.host.options.delete('svc_image_defaults');
    expect(service.upstream.calls.map(({ body: { size, quality, style } }) => [size, quality, style])).to.deep.equal([
      ['1024x1792', 'hd', 'vivid'],
      ['1024x1024', 'standard', 'natural'],
    ]);
  });

  it('names in a header what the model does not take, and leaves it out', async () => {
    service.upstream.answer(() => ({ body: { created: 1, data: [{ b64_json: picture() }] } }));
    const { headers } = await service.generate({ prompt, model: 'gpt-image-1', style: 'vivid', quality: 'hd' });
    expect(headers.get('x-svc-ignored-params')).to.equal('style');
    expect(service.upstream.calls[0]?.body).to.deep.equal({ model: 'gpt-image-1', prompt, n: 1, quality: 'high' });
  });

  describe('with more images than a call gives', () => {
    it('gives three images of dall-e-3 by three calls', async () => {
      const { status, body } = await service.generate({ prompt, model: 'dall-e-3', n: 3 });
      expect([status, body.message, body.images.length]).to.deep.equal([200, '3 images generated.', 3]);
      expect(service.upstream.calls.map(({ body: { n } }) => n)).to.deep.equal([1, 1, 1]);
      expect(new Set(body.images.map(({ url }: { url: string }) => url)).size).to.equal(3);
    });

    it('gives ten images of dall-e-3 by ten calls, and of dall-e-2 by one', async () => {
      expect((await service.generate({ prompt, model: 'dall-e-3', n: 10 })).body.images).to.have.length(10);
      expect(service.upstream.calls).to.have.length(10);
      service.upstream.answer(({ body: { n } }) => ({
        body: {
          created: 1,
          data: Array.from({ length: Number(n) }, () => ({ url: 'https://images.example.com/x.png' })),
        },
      }));
      expect((await service.generate({ prompt, model: 'dall-e-2', n: 10 })).body.images).to.have.length(10);
      expect(service.upstream.calls).to.have.length(1);
    });

    it('gives two and says so when one of three fails', async () => {
      service.upstream.answer((_call, place) =>
        place === 1
          ? failed(400, 'Not this one.')
          : { body: { created: 1, data: [{ url: 'https://images.example.com/x.png' }] } },
      );
      const { status, body } = await service.generate({ prompt, model: 'dall-e-3', n: 3 });
      expect([status, body.images.length]).to.deep.equal([200, 2]);
      expect(body.message).to.equal('2 images generated. 1 of 3 failed: OpenAI refused the request: Not this one.');
    });

    it('says so when a call gives fewer than it was asked for', async () => {
      const { body } = await service.generate({ prompt, model: 'dall-e-2', n: 3 });
      expect(body.message).to.equal('1 image generated. 2 of 3 failed: OpenAI failed: it returned 1 of 3 images.');
    });

    it('answers the mapped error when all fail', async () => {
      service.upstream.answer(() => failed(400, 'Your prompt was refused.'));
      const { status, body } = await service.generate({ prompt, model: 'dall-e-3', n: 3 });
      expect([status, body.code, body.message]).to.deep.equal([
        400,
        'rest_svc_provider_rejected',
        'OpenAI refused the request: Your prompt was refused.',
      ]);
      expect(body.data).to.deep.equal({ provider: 'openai', provider_status: 400, status: 400 });
      expect(service.upstream.calls).to.have.length(3);
    });

    it('begins no further call once the credentials are refused', async () => {
      service.upstream.answer(() => failed(401, 'Wrong key.'));
      const { status, body } = await service.generate({ prompt, model: 'dall-e-3', n: 10 });
      expect([status, body.code]).to.deep.equal([502, 'rest_svc_provider_auth_failed']);
      expect(service.upstream.calls.length).to.be.within(1, 5);
    });

    it('adds the usage of all calls up', async () => {
      const usage = {
        input_tokens: 5,
        output_tokens: 100,
        total_tokens: 105,
        input_tokens_details: { text_tokens: 5, image_tokens: 0 },
      };
      service.upstream.answer(() => ({
        body: { created: 1, data: [{ url: 'https://images.example.com/x.png' }], usage },
      }));
      const { body } = await service.generate({ prompt, model: 'dall-e-3', n: 2 });
      expect(body.usage).to.deep.equal({
        input_tokens: 10,
        output_tokens: 200,
        total_tokens: 210,
        input_tokens_details: { text_tokens: 10, image_tokens: 0 },
      });
    });
  });

  describe('when the form that came is not the one that was asked for', () => {
    it('saves base64 in the media library and answers its address', async () => {
      service.upstream.answer(() => ({ body: { created: 1, data: [{ b64_json: picture(7) }] } }));
      const { body } = await service.generate({ prompt, model: 'gpt-image-1', response_format: 'url' });
      const [{ url, b64_json }] = body.images;
      expect([b64_json, new URL(url).origin]).to.deep.equal([null, service.host.site.url]);
      const file = await service.host.fetch(new URL(url).pathname);
      expect(file.headers.get('content-type')).to.equal('image/png');
      expect(Buffer.from(await file.arrayBuffer()).equals(png(7))).to.equal(true);
    });

    it('fetches an address and answers base64', async () => {
      service.upstream.answer(() => ({
        body: { created: 1, data: [{ url: `${service.upstream.origin}/files/1.png?signature=secret` }] },
      }));
      service.upstream.file('/files/1.png?signature=secret', {
        body: png(9),
        headers: { 'content-type': 'image/png' },
      });
      const { body } = await service.generate({ prompt, model: 'dall-e-3', response_format: 'b64_json' });
      expect(service.upstream.calls[0]?.body['response_format']).to.equal('b64_json');
      expect(body.images).to.deep.equal([{ url: null, b64_json: picture(9), revised_prompt: null }]);
    });
  });
});
