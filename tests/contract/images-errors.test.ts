import { expect } from 'chai';
import { failed, farKey, picture, startImagesService, type ImagesService } from './images-service.ts';
import { png, type ImagesAnswer } from './images-upstream.ts';

const good = { prompt: 'A lighthouse at dusk', model: 'dall-e-3' };
const address = { body: { created: 1, data: [{ url: 'https://images.example.com/x.png' }] } };

describe('errors of POST /images/generate', () => {
  let service: ImagesService;
  before(async () => {
    service = await startImagesService();
  });
  after(() => service.stop());

  const cases: Record<string, readonly [answer: ImagesAnswer, status: number, code: string, tries: number]> = {
    400: [failed(400, 'Your prompt was refused by our safety system.'), 400, 'rest_svc_provider_rejected', 1],
    404: [failed(404, 'No such model.'), 400, 'rest_svc_provider_rejected', 1],
    422: [failed(422, 'Unprocessable.'), 400, 'rest_svc_provider_rejected', 1],
    401: [failed(401, `Incorrect API key provided: ${farKey}.`), 502, 'rest_svc_provider_auth_failed', 1],
    403: [failed(403, 'Verify your organization.'), 502, 'rest_svc_provider_auth_failed', 1],
    429: [{ ...failed(429, 'Slow down.'), headers: { 'retry-after': '7' } }, 429, 'rest_svc_provider_rate_limited', 3],
    500: [failed(500, 'Broken.'), 502, 'rest_svc_provider_error', 3],
    503: [failed(503, 'Overloaded.'), 502, 'rest_svc_provider_error', 3],
  };
  for (const [given, [answer, status, code, tries]] of Object.entries(cases)) {
    it(`are ${String(status)} ${code} when the provider answers ${given}, after ${String(tries)} tr${tries === 1 ? 'y' : 'ies'}`, async () => {
      service.upstream.answer(() => answer);
      const { status: got, body, text, headers } = await service.generate(good);
      expect([got, body.code, body.data]).to.deep.equal([
        status,
        code,
        {
          provider: 'openai',
          provider_status: Number(given),
          ...(given === '404' && { reason: 'model_not_found' }),
          status,
        },
      ]);
      expect(service.upstream.calls).to.have.length(tries);
      expect(text).not.to.contain(farKey);
      if (status === 429) expect(headers.get('retry-after')).to.equal('7');
    });
  }

  it('are none where a further try succeeds, for each call by itself', async () => {
    const seen = new Map<number, number>();
    service.upstream.answer((_call, place) => {
      const place3 = place % 3;
      seen.set(place3, (seen.get(place3) ?? 0) + 1);
      return place < 3 ? failed(503, 'Overloaded.') : address;
    });
    const { status, body } = await service.generate({ ...good, n: 3 });
    expect([status, body.message, service.upstream.calls.length]).to.deep.equal([200, '3 images generated.', 6]);
  });

  for (const [what, body] of [
    ['no list', { created: 1 }],
    ['an empty list', { created: 1, data: [] }],
    ['items without an image', { created: 1, data: [{ revised_prompt: 'x' }] }],
    ['HTML', '<html></html>'],
    ['an address that is none', { created: 1, data: [{ url: 'file:///etc/passwd' }] }],
  ] as const) {
    it(`are 502 when an answer of success holds ${what}`, async () => {
      service.upstream.answer(() => ({ body }));
      const { status, body: error } = await service.generate(good);
      expect([status, error.code]).to.deep.equal([502, 'rest_svc_provider_error']);
    });
  }

  it('are 504 when no image comes in 180 seconds', async () => {
    service.upstream.answer(() => ({ instead: 'hang' }));
    const answer = service.generate(good);
    await service.upstream.asked(1);
    await service.clock.advance(179_999);
    expect(service.clock.pending()).to.be.greaterThan(0);
    await service.clock.advance(1);
    const { status, body } = await answer;
    expect([status, body.code, body.message]).to.deep.equal([
      504,
      'rest_svc_provider_timeout',
      'OpenAI did not respond within 180 seconds. Try again later.',
    ]);
  });

  it('are a partial success when one image of two does not come in the time that was set', async () => {
    await service.host.options.update('svc_limits', { images_timeout: 20 });
    service.upstream.answer((_call, place) => (place === 0 ? address : { instead: 'hang' }));
    const answer = service.generate({ ...good, n: 2 });
    await service.upstream.asked(2);
    await service.clock.advance(20_000);
    const { status, body } = await answer;
    await service.host.options.delete('svc_limits');
    expect([status, body.images.length, body.message]).to.deep.equal([
      200,
      1,
      '1 image generated. 1 of 2 failed: OpenAI did not respond within 20 seconds. Try again later.',
    ]);
  });

  it('name each reason once, the first failure when nothing is left', async () => {
    service.upstream.answer((_call, place) =>
      place === 0 ? address : failed(400, place === 1 ? 'Too dark.' : 'Too bright.'),
    );
    const { body } = await service.generate({ ...good, n: 4 });
    expect(body.message)
      .to.match(/^1 image generated\. 3 of 4 failed: /)
      .and.to.contain('Too dark.')
      .and.to.contain('Too bright.');
    expect(body.message.match(/Too bright/g)).to.have.length(1);
  });

  describe('of the forms', () => {
    const askingForData = { ...good, response_format: 'b64_json' };
    const giving = (url: string): void => {
      service.upstream.answer(() => ({ body: { created: 1, data: [{ url }] } }));
    };

    it('are 502 when the address leads inside, which is not called', async () => {
      for (const url of [
        'http://127.0.0.1:9/x.png?signature=secret',
        'http://169.254.169.254/latest/meta-data',
        'http://[::1]:1/x',
        'http://10.0.0.1/x.png',
        'http://localhost:1/x.png',
      ]) {
        giving(url);
        const { status, body, text } = await service.generate(askingForData);
        expect([status, body.code], url).to.deep.equal([502, 'rest_svc_provider_error']);
        expect(body.message).to.contain('OpenAI failed: the image could not be fetched from its URL');
        expect(text).not.to.contain('secret');
      }
    });

    it('are 502 when what is fetched is no image, whatever its type says', async () => {
      giving(`${service.upstream.origin}/page`);
      service.upstream.file('/page', {
        body: '<svg xmlns="http://www.w3.org/2000/svg"/>',
        headers: { 'content-type': 'image/png' },
      });
      const { status, body } = await service.generate(askingForData);
      expect([status, body.message]).to.deep.equal([
        502,
        'OpenAI failed: it returned no PNG, JPEG, GIF, WebP or AVIF image.',
      ]);
    });

    it('are 502 when the image is gone, which is not asked for again', async () => {
      giving(`${service.upstream.origin}/gone.png?signature=secret`);
      const { status, body, text } = await service.generate(askingForData);
      expect([status, service.upstream.fetched.length]).to.deep.equal([502, 1]);
      expect(body.message).to.equal(
        'OpenAI failed: the image could not be fetched from its URL: the server returned 404.',
      );
      expect(text).not.to.contain('secret');
    });

    it('are none when fetching succeeds at a further try; the image is not made twice', async () => {
      giving(`${service.upstream.origin}/slow.png`);
      service.upstream.file('/slow.png', { status: 503, body: 'busy' }, { body: png(8) });
      const { status, body } = await service.generate(askingForData);
      expect([status, body.images[0].b64_json]).to.deep.equal([200, picture(8)]);
      expect([service.upstream.calls.length, service.upstream.fetched.length]).to.deep.equal([1, 2]);
    });

    it('are 502 when base64 that is to be saved is no image', async () => {
      service.upstream.answer(() => ({
        body: { created: 1, data: [{ b64_json: Buffer.from('hello').toString('base64') }] },
      }));
      const { status, body } = await service.generate({ ...good, model: 'gpt-image-1' });
      expect([status, body.code]).to.deep.equal([502, 'rest_svc_provider_error']);
    });

    it('are none when the media library does not take the image: it is paid for, so it comes as base64', async () => {
      const undo = service.host.hooks.addFilter('upload_mimes', () => ({}));
      service.upstream.answer(() => ({ body: { created: 1, data: [{ b64_json: picture() }] } }));
      const { status, body } = await service.generate({ ...good, model: 'gpt-image-1' });
      undo();
      expect([status, body.images]).to.deep.equal([200, [{ url: null, b64_json: picture(), revised_prompt: null }]]);
      expect(body.message).to.match(
        /^1 image generated\. 1 image could not be saved to the media library, and is in b64_json: /,
      );
    });
  });

  it('show nothing of a fault of a plugin, and the site goes on', async () => {
    service.upstream.answer(() => address);
    const undo = service.host.hooks.addFilter('svc_images_request', () => {
      throw new Error('a secret inside /srv/private.ts');
    });
    const { status, body, text } = await service.generate(good);
    undo();
    expect([status, body.code]).to.deep.equal([500, 'rest_internal_error']);
    expect(text).not.to.contain('private');
    expect((await service.generate(good)).status).to.equal(200);
  });

  it('and all that was logged meanwhile hold neither key nor prompt', () => {
    expect(service.host.logged.join('\n')).not.to.contain(farKey).and.not.to.contain(good.prompt);
  });
});
