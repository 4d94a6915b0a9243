import { expect } from 'chai';
import nock from 'nock';
import { createSystemClock } from '../../../../host/clock.ts';
import { createHooks } from '../../../../host/hooks/hooks.ts';
import type {
  ImageEditRequest,
  Provider,
  ProviderConnection,
  ProviderError,
  ProviderSettings,
} from '../../../../plugins/svc/providers/provider.ts';
import { createProviderRegistry, type ProviderRegistry } from '../../../../plugins/svc/providers/registry.ts';
import { schemaOf } from '../../../conformance/image-upstream.ts';
import { failureOf } from '../../../helpers/failure-of.ts';
import { currentFetch, useRecordedResponses } from '../../../helpers/recorded-responses.ts';
import { silentLog } from '../../../helpers/silent-log.ts';
import type { Fields } from '../../../helpers/fields.ts';

const key = 'test-key-0123456789';
const image = { bytes: Buffer.from('\x89PNG\r\n\x1a\nimage', 'latin1'), mimeType: 'image/png' };
const mask = { bytes: Buffer.from('\x89PNG\r\n\x1a\nmask', 'latin1'), mimeType: 'image/png' };
const b64 = 'aW1hZ2U=';
const openAi = { api_key: key, base_url: 'https://api.openai.com/v1' };
const azure = { api_key: key, base_url: 'https://example.openai.azure.com', deployments: ['drawings = gpt-image-1'] };
const google = { api_key: key, base_url: 'https://generativelanguage.googleapis.com' };

interface FormEnd {
  readonly title: string;
  readonly id: string;
  readonly settings: ProviderSettings;
  readonly model: string;
  readonly origin: string;
  readonly path: string;
  readonly header: readonly [string, string];
  /** What size, quality and style add to the form. */
  readonly written: Fields;
  readonly ignored: readonly string[];
}

/** Those that speak OpenAI's `/images/edits`. */
const formEnds: readonly FormEnd[] = [
  {
    title: 'OpenAI (gpt-image-1)',
    id: 'openai',
    settings: openAi,
    model: 'gpt-image-1',
    origin: 'https://api.openai.com',
    path: '/v1/images/edits',
    header: ['authorization', `Bearer ${key}`],
    written: { size: '1024x1024', quality: 'high' },
    ignored: ['style'],
  },
  {
    title: 'OpenAI (dall-e-2)',
    id: 'openai',
    settings: openAi,
    model: 'dall-e-2',
    origin: 'https://api.openai.com',
    path: '/v1/images/edits',
    header: ['authorization', `Bearer ${key}`],
    written: { size: '1024x1024', response_format: 'b64_json' },
    ignored: ['quality', 'style'],
  },
  {
    title: 'Azure (v1)',
    id: 'azure',
    settings: { ...azure, api_version: 'v1' },
    model: 'drawings',
    origin: 'https://example.openai.azure.com',
    path: '/openai/v1/images/edits',
    header: ['authorization', `Bearer ${key}`],
    written: { size: '1024x1024', quality: 'high' },
    ignored: ['style'],
  },
  {
    title: 'Azure (2025-04-01-preview)',
    id: 'azure',
    settings: { ...azure, api_version: '2025-04-01-preview' },
    model: 'drawings',
    origin: 'https://example.openai.azure.com',
    path: '/openai/deployments/drawings/images/edits?api-version=2025-04-01-preview',
    header: ['api-key', key],
    written: { size: '1024x1024', quality: 'high' },
    ignored: ['style'],
  },
];

describe('Editing images', () => {
  let registry: ProviderRegistry;
  before(async () => {
    registry = createProviderRegistry({ hooks: createHooks() });
  });
  useRecordedResponses();

  const find = (id: string): Provider => registry.get(id)!;
  const connection = (settings: ProviderSettings): ProviderConnection => ({
    settings,
    fetch: currentFetch,
    clock: createSystemClock(),
    log: silentLog,
    timeout: 5000,
  });
  const request = (model: string, changes: Partial<ImageEditRequest> = {}): ImageEditRequest => ({
    model,
    prompt: 'Make it night',
    n: 1,
    responseFormat: 'b64_json',
    image,
    ...changes,
  });

  it('is done by openai, azure and google; others draw alone', () => {
    expect(
      registry
        .all()
        .filter(({ images }) => images?.editing !== undefined)
        .map(({ id }) => id),
    ).to.deep.equal(['openai', 'azure', 'google']);
  });

  it('takes of each model what its upstream takes', () => {
    const accepts = (id: string, model: string, settings: ProviderSettings = {}) =>
      find(id).images?.editing?.accepts(model, settings) ?? null;
    expect(accepts('openai', 'dall-e-3')).to.equal(null);
    expect(accepts('openai', 'dall-e-2')).to.deep.equal({
      types: ['image/png'],
      most: 4 * 1024 * 1024 - 1,
      mask: true,
      square: true,
    });
    expect(accepts('openai', 'gpt-image-2')).to.deep.include({
      types: ['image/png', 'image/webp', 'image/jpeg'],
      mask: true,
    });
    expect(accepts('azure', 'drawings', azure)).to.deep.include({ mask: true });
    expect(accepts('google', 'gemini-3.1-flash-image')).to.deep.include({ mask: false });
    expect(accepts('google', 'imagen-4.0-generate-001')).to.equal(null);
  });

  for (const { title, id, settings, model, origin, path, header, written, ignored: leftOut } of formEnds) {
    describe(title, () => {
      const sent: { form: Fields; headers: Fields } = { form: {}, headers: {} };
      const answering = (body: Fields, status = 200): void => {
        nock(origin)
          .post(path)
          .reply(async function (_uri, received) {
            sent.headers = this.req.headers;
            const raw =
              typeof received === 'string'
                ? Buffer.from(received, /^[0-9a-f]+$/.test(received) ? 'hex' : 'utf8')
                : Buffer.from(JSON.stringify(received));
            sent.form = {};
            const type = String([this.req.headers['content-type']].flat()[0]);
            for (const [name, value] of await new Response(raw, { headers: { 'content-type': type } }).formData())
              sent.form[name] =
                typeof value === 'string'
                  ? value
                  : { name: value.name, type: value.type, bytes: Buffer.from(await value.arrayBuffer()) };
            return [status, body];
          });
      };

      it('sends the image, the mask and the fields as a form that its specification allows', async () => {
        answering({ created: 1, data: [{ b64_json: b64 }] });
        const { images, ignored } = await find(id).images!.editing!.edit(
          request(model, { mask, n: 2, size: '1024x1024', quality: 'hd', style: 'vivid' }),
          connection(settings),
        );
        expect(images[0]).to.deep.include({ b64_json: b64, url: null });
        expect(ignored).to.deep.equal(leftOut);
        expect(String(sent.headers[header[0]])).to.equal(header[1]);
        const { image: sentImage, mask: sentMask, ...fields } = sent.form;
        expect(fields).to.deep.equal({ model, prompt: 'Make it night', n: '2', ...written });
        expect([sentImage.name, sentImage.type, sentImage.bytes.equals(image.bytes)]).to.deep.equal([
          'image.png',
          'image/png',
          true,
        ]);
        expect([sentMask.name, sentMask.type, sentMask.bytes.equals(mask.bytes)]).to.deep.equal([
          'mask.png',
          'image/png',
          true,
        ]);
        const valid = schemaOf('openai-images', 'CreateImageEditRequest');
        // In a form numbers are texts, and files are what the schema calls binary strings.
        expect(
          valid({ ...fields, n: Number(fields['n']), image: 'binary', mask: 'binary' }),
          JSON.stringify(valid.errors),
        ).to.equal(true);
        expect(
          Object.keys(fields).filter(
            (name) => !['model', 'prompt', 'n', 'size', 'quality', 'response_format'].includes(name),
          ),
        ).to.deep.equal([]);
      });

      it('takes refusals as those of drawing', async () => {
        answering({ error: { message: `Bad mask, ${key}.` } }, 400);
        const error = (await failureOf(
          find(id).images!.editing!.edit(request(model), connection(settings)),
        )) as ProviderError;
        expect([error.name, error.kind, error.status, error.message]).to.deep.equal([
          'ProviderError',
          'rejected',
          400,
          'Bad mask, [redacted].',
        ]);
      });
    });
  }

  it('sends Gemini the image within the contents, as its specification allows', async () => {
    let body: Fields = {};
    nock(google.base_url)
      .post('/v1beta/models/gemini-3.1-flash-image:generateContent')
      .reply(function (_uri, received) {
        body = received as Fields;
        return [
          200,
          {
            candidates: [
              {
                content: { role: 'model', parts: [{ inlineData: { mimeType: 'image/png', data: b64 } }] },
                finishReason: 'STOP',
              },
            ],
          },
        ];
      });
    const { images } = await find('google').images!.editing!.edit(
      request('gemini-3.1-flash-image', { size: '1792x1024' }),
      connection(google),
    );
    expect(images[0]?.b64_json).to.equal(b64);
    expect(body['contents']).to.deep.equal([
      {
        role: 'user',
        parts: [
          { text: 'Make it night' },
          { inlineData: { mimeType: 'image/png', data: image.bytes.toString('base64') } },
        ],
      },
    ]);
    expect(body['generationConfig'].imageConfig).to.deep.equal({ aspectRatio: '16:9', imageSize: '1K' });
    const valid = schemaOf('gemini-requests', 'GenerateContentRequest', ['model']);
    expect(valid(body), JSON.stringify(valid.errors)).to.equal(true);
  });
});
