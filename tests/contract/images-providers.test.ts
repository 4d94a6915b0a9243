import { expect } from 'chai';
import type { GivenImage, ImageFarEnd } from '../conformance/image-far-end.ts';
import { fields } from '../conformance/image-far-end.ts';
import { imageFarEnds } from '../conformance/image-far-ends.ts';
import { png } from './images-far-end.ts';
import { failed, farKey, picture, startImagesService, type ImagesService } from './images-service.ts';

const prompt = 'A lighthouse at dusk';
/** Ours, but none of contract 4.3: reached by a filter, as a module reaches them by name. */
const outsideTheContract = ['xai', 'openrouter'];

for (const farEnd of imageFarEnds) {
  describe(`POST /images/generate through ${farEnd.title}`, () => {
    let service: ImagesService;
    let undo: () => void = () => undefined;
    before(async () => {
      const { base_url: _address, api_key: _key, ...settings } = farEnd.settings;
      service = await startImagesService({ settings: { [farEnd.id]: settings } });
      if (outsideTheContract.includes(farEnd.id))
        undo = service.host.hooks.addFilter('svc_images_request', (call) => ({ ...call, provider: farEnd.id }));
    });
    after(async () => {
      undo();
      await service.stop();
    });

    const given = (shade: number): GivenImage => ({
      ...(farEnd.gives.b64 && { b64: picture(shade) }),
      ...(farEnd.gives.revised && { revised: `Revised ${String(shade)}` }),
    });
    const request = {
      prompt,
      model: farEnd.model,
      ...(!outsideTheContract.includes(farEnd.id) && { provider: farEnd.id }),
    };

    it('brings every field to the far end, names what it does not take, and brings the image back', async () => {
      service.farEnd.answer(() => ({ body: farEnd.answer([given(1)]) }));
      const { status, body, headers } = await service.generate({
        ...request,
        ...fields,
        n: 1,
        response_format: 'b64_json',
      });
      expect([status, body]).to.deep.equal([
        200,
        {
          images: [{ url: null, b64_json: picture(1), revised_prompt: farEnd.gives.revised ? 'Revised 1' : null }],
          usage: farEnd.usage,
          message: '1 image generated.',
        },
      ]);
      const ignored = Object.entries(farEnd.wire)
        .filter(([, wire]) => wire === null)
        .map(([name]) => name);
      expect(headers.get('x-svc-ignored-params') ?? '').to.equal(ignored.join(', '));
      const [call] = service.farEnd.calls;
      expect(call?.path).to.equal(farEnd.path);
      expect(call?.headers[farEnd.key[0]]).to.equal(farEnd.key[1].replace(String(farEnd.settings.api_key), farKey));
      expect(withoutForm(call?.body ?? {})).to.deep.equal({
        ...farEnd.bare(prompt, 1),
        ...farEnd.wire.size,
        ...farEnd.wire.quality,
        ...farEnd.wire.style,
      });
      if (farEnd.gives.url) expect(farEnd.formOf(call?.body ?? {})).to.equal('b64_json');
    });

    it('gives six images by as many calls as it takes, and adds their usage up', async () => {
      service.farEnd.answer(({ body }) => ({
        body: farEnd.answer(Array.from({ length: countOf(farEnd, body) }, () => given(2))),
      }));
      const { body } = await service.generate({ ...request, n: 6, response_format: 'b64_json' });
      const calls = Math.ceil(6 / farEnd.perCall);
      expect([body.message, body.images.length, service.farEnd.calls.length]).to.deep.equal([
        '6 images generated.',
        6,
        calls,
      ]);
      const [name, once] = Object.entries(farEnd.usage ?? {})[0] ?? [];
      if (name !== undefined) expect(body.usage[name]).to.equal(Number(once) * calls);
    });

    it('answers addresses: its own where it gives one, else those of the media library', async () => {
      service.farEnd.answer(() => ({
        body: farEnd.answer([farEnd.gives.url ? { url: 'https://images.example.com/1.png' } : given(3)]),
      }));
      const [image] = (await service.generate({ ...request, response_format: 'url' })).body.images;
      expect(image.b64_json).to.equal(null);
      if (farEnd.gives.url) return expect(image.url).to.equal('https://images.example.com/1.png');
      const file = await service.host.fetch(new URL(image.url).pathname);
      return expect(Buffer.from(await file.arrayBuffer()).equals(png(3))).to.equal(true);
    });

    it('maps a refusal, by its display name, without its key', async () => {
      service.farEnd.answer(() => ({
        ...failed(400, ''),
        body: JSON.parse(JSON.stringify(farEnd.error).replace('{message}', `Not with ${farKey}.`)) as unknown,
      }));
      const { status, body, text } = await service.generate({ ...request, n: 2 });
      expect([status, body.code, body.message]).to.deep.equal([
        400,
        'rest_svc_provider_rejected',
        `${farEnd.label} refused the request: Not with [redacted].`,
      ]);
      expect(body.data).to.deep.equal({ provider: farEnd.id, provider_status: 400, status: 400 });
      expect(text).not.to.contain(farKey);
    });
  });
}

function withoutForm(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { response_format: _form, ...rest } = body;
  return rest;
}

function countOf(farEnd: ImageFarEnd, body: Readonly<Record<string, unknown>>): number {
  const parameters = body['parameters'] as { sampleCount?: number } | undefined;
  return Number(body['n'] ?? parameters?.sampleCount ?? farEnd.perCall);
}
