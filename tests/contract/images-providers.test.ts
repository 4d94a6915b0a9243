import { expect } from 'chai';
import type { GivenImage, ImageUpstream } from '../conformance/image-upstream.ts';
import { fields } from '../conformance/image-upstream.ts';
import { imageUpstreams } from '../conformance/image-upstreams.ts';
import { png } from './images-upstream.ts';
import { failed, farKey, picture, startImagesService, type ImagesService } from './images-service.ts';

const prompt = 'A lighthouse at dusk';
/** Ours, but none of contract 4.3: reached by a filter, as a module reaches them by name. */
const outsideTheContract = ['xai', 'openrouter'];

for (const upstream of imageUpstreams) {
  describe(`POST /images/generate through ${upstream.title}`, () => {
    let service: ImagesService;
    let undo: () => void = () => undefined;
    before(async () => {
      const { base_url: _address, api_key: _key, ...settings } = upstream.settings;
      service = await startImagesService({ settings: { [upstream.id]: settings } });
      if (outsideTheContract.includes(upstream.id))
        undo = service.host.hooks.addFilter('svc_images_request', (call) => ({ ...call, provider: upstream.id }));
    });
    after(async () => {
      undo();
      await service.stop();
    });

    const given = (shade: number): GivenImage => ({
      ...(upstream.gives.b64 && { b64: picture(shade) }),
      ...(upstream.gives.revised && { revised: `Revised ${String(shade)}` }),
    });
    const request = {
      prompt,
      model: upstream.model,
      ...(!outsideTheContract.includes(upstream.id) && { provider: upstream.id }),
    };

    it('brings every field to the upstream, names what it does not take, and brings the image back', async () => {
      service.upstream.answer(() => ({ body: upstream.answer([given(1)]) }));
      const { status, body, headers } = await service.generate({
        ...request,
        ...fields,
        n: 1,
        response_format: 'b64_json',
      });
      expect([status, body]).to.deep.equal([
        200,
        {
          images: [{ url: null, b64_json: picture(1), revised_prompt: upstream.gives.revised ? 'Revised 1' : null }],
          usage: upstream.usage,
          message: '1 image generated.',
        },
      ]);
      const ignored = Object.entries(upstream.wire)
        .filter(([, wire]) => wire === null)
        .map(([name]) => name);
      expect(headers.get('x-svc-ignored-params') ?? '').to.equal(ignored.join(', '));
      const [call] = service.upstream.calls;
      expect(call?.path).to.equal(upstream.path);
      expect(call?.headers[upstream.key[0]]).to.equal(
        upstream.key[1].replace(String(upstream.settings.api_key), farKey),
      );
      expect(withoutForm(call?.body ?? {})).to.deep.equal({
        ...upstream.bare(prompt, 1),
        ...upstream.wire.size,
        ...upstream.wire.quality,
        ...upstream.wire.style,
      });
      if (upstream.gives.url) expect(upstream.formOf(call?.body ?? {})).to.equal('b64_json');
    });

    it('gives six images by as many calls as it takes, and adds their usage up', async () => {
      service.upstream.answer(({ body }) => ({
        body: upstream.answer(Array.from({ length: countOf(upstream, body) }, () => given(2))),
      }));
      const { body } = await service.generate({ ...request, n: 6, response_format: 'b64_json' });
      const calls = Math.ceil(6 / upstream.perCall);
      expect([body.message, body.images.length, service.upstream.calls.length]).to.deep.equal([
        '6 images generated.',
        6,
        calls,
      ]);
      const [name, once] = Object.entries(upstream.usage ?? {})[0] ?? [];
      if (name !== undefined) expect(body.usage[name]).to.equal(Number(once) * calls);
    });

    it('answers addresses: its own where it gives one, else those of the media library', async () => {
      service.upstream.answer(() => ({
        body: upstream.answer([upstream.gives.url ? { url: 'https://images.example.com/1.png' } : given(3)]),
      }));
      const [image] = (await service.generate({ ...request, response_format: 'url' })).body.images;
      expect(image.b64_json).to.equal(null);
      if (upstream.gives.url) return expect(image.url).to.equal('https://images.example.com/1.png');
      const file = await service.host.fetch(new URL(image.url).pathname);
      return expect(Buffer.from(await file.arrayBuffer()).equals(png(3))).to.equal(true);
    });

    it('maps a refusal, by its display name, without its key', async () => {
      service.upstream.answer(() => ({
        ...failed(400, ''),
        body: JSON.parse(JSON.stringify(upstream.error).replace('{message}', `Not with ${farKey}.`)) as unknown,
      }));
      const { status, body, text } = await service.generate({ ...request, n: 2 });
      expect([status, body.code, body.message]).to.deep.equal([
        400,
        'rest_svc_provider_rejected',
        `${upstream.label} refused the request: Not with [redacted].`,
      ]);
      const { reason: _reason, vendor_code: _code, ...data } = body.data as Record<string, unknown>;
      expect(data).to.deep.equal({ provider: upstream.id, provider_status: 400, status: 400 });
      expect(text).not.to.contain(farKey);
    });
  });
}

function withoutForm(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { response_format: _form, ...rest } = body;
  return rest;
}

function countOf(upstream: ImageUpstream, body: Readonly<Record<string, unknown>>): number {
  const parameters = body['parameters'] as { sampleCount?: number } | undefined;
  return Number(body['n'] ?? parameters?.sampleCount ?? upstream.perCall);
}
