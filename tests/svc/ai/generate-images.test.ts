import { expect } from 'chai';
import type { Media, NewMedia, RestError } from '#plugin-api';
import { createGenerateImages, type GenerateImagesInput } from '../../../plugins/svc/ai/generate-images.ts';
import { createRecordUsage } from '../../../plugins/svc/modules/usage/record-usage.ts';
import type { UsageRecord } from '../../../plugins/svc/modules/usage/ledger/usage-record.ts';
import {
  ProviderError,
  type ImageCapability,
  type ImageRequest,
  type ImageResult,
  type Provider,
} from '../../../plugins/svc/providers/provider.ts';
import { failureOf } from '../../helpers/failure-of.ts';
import { until } from '../../helpers/until.ts';
import { overloaded, services } from './helpers.ts';
import { silentLog } from '../../helpers/silent-log.ts';

const png = Buffer.from('\x89PNG\r\n\x1a\nrest', 'latin1');
const call: GenerateImagesInput = { provider: 'painter', model: 'oil', prompt: 'A lighthouse', form: 'b64_json' };
const image = { url: null, b64_json: png.toString('base64'), revised_prompt: null, mimeType: null };
const usage = { input_tokens: 3, output_tokens: 40, total_tokens: 43 };

type Step = Partial<ImageResult> | Error;

/** A provider of one image a call that does what it is told, and remembers. */
function painter(steps: readonly Step[] = [{}], perCall = 1) {
  const requests: ImageRequest[] = [];
  const running = { now: 0, most: 0 };
  const images: ImageCapability = {
    perCall: () => perCall,
    generate: async (request) => {
      requests.push(request);
      const step = steps[Math.min(requests.length, steps.length) - 1];
      running.now += 1;
      running.most = Math.max(running.most, running.now);
      await new Promise((resolve) => setImmediate(resolve));
      running.now -= 1;
      if (step instanceof Error) throw step;
      return { images: Array.from({ length: request.n }, () => image), usage, model: 'oil-2', ignored: [], ...step };
    },
  };
  const provider: Provider = {
    id: 'painter',
    label: 'Painter',
    required: ['api_key'],
    settings: { type: 'object', properties: { image_model: { type: 'string', title: 'Image model' } } },
    images,
    listModels: () => Promise.resolve([]),
  };
  return { provider, requests, running };
}

async function generating(
  { provider }: { provider: Provider },
  settings: NonNullable<Parameters<typeof services>[0]>['settings'] = {},
) {
  const records: UsageRecord[] = [];
  const saved: NewMedia[] = [];
  const fetched: string[] = [];
  const base = await services({ providers: [provider], settings });
  const save = (media: NewMedia): Promise<Media> => {
    saved.push(media);
    return Promise.resolve({
      id: saved.length,
      url: `http://localhost/uploads/${String(saved.length)}.png`,
      size: media.bytes.length,
      mimeType: 'image/png',
    } as Media);
  };
  const fetch = (url: string) => {
    fetched.push(url);
    return Promise.resolve({ status: 200, headers: {}, body: png, url, text: () => '', json: () => null });
  };
  const host = { ...base.host, content: { media: { save } }, http: { fetch } };
  const generate = createGenerateImages({
    ...base,
    host: host as unknown as Parameters<typeof createGenerateImages>[0]['host'],
    recordUsage: createRecordUsage({
      clock: base.clock,
      log: silentLog,
      ledger: {
        record: (record) => void records.push(record),
        price: () => Promise.resolve({ cost: 7, sandbox: false }),
        settle: () => Promise.resolve(),
      },
    }),
  });
  return { generate, records, saved, fetched, clock: base.clock };
}

describe('Generating images', () => {
  it('runs at most five calls at a time, and keeps count of all', async () => {
    const far = painter();
    const { generate, records } = await generating(far);
    const { images, message } = await generate({ ...call, n: 10 });
    expect([images.length, message, far.requests.length, far.running.most]).to.deep.equal([
      10,
      '10 images generated.',
      10,
      5,
    ]);
    expect(records).to.have.length(1);
    expect(records[0]).to.include({ images: 10, inputTokens: 30, outputTokens: 400 });
  });

  it('splits ten images of four a call into four, four and two', async () => {
    const far = painter([{}], 4);
    await (await generating(far)).generate({ ...call, n: 10 });
    expect(far.requests.map(({ n }) => n)).to.deep.equal([4, 4, 2]);
  });

  for (const perCall of [0, -1, Number.NaN, 0.5]) {
    it(`takes a plugin's word of ${String(perCall)} images a call for one`, async () => {
      const far = painter([{}], perCall);
      expect((await (await generating(far)).generate({ ...call, n: 2 })).images).to.have.length(2);
    });
  }

  it('tells the ledger where a call came from and how it ended, and nothing of the prompt', async () => {
    const { generate, records } = await generating(painter());
    await generate({ ...call, origin: { module: 'content_writer', route: null, botId: 7 } });
    expect(records).to.deep.equal([
      {
        module: 'content_writer',
        route: null,
        botId: 7,
        kind: 'image',
        provider: 'painter',
        model: 'oil-2',
        inputTokens: 3,
        outputTokens: 40,
        tokenDetails: undefined,
        images: 1,
        seconds: undefined,
        size: undefined,
        quality: undefined,
        duration: 0,
        outcome: 'ok',
      },
    ]);
  });

  it('tells it of failures by their code, with what was paid for all the same', async () => {
    const failing = await generating(painter([overloaded]));
    await failureOf(failing.generate(call));
    await until('the record', () => failing.records.length > 0);
    expect(failing.records[0]).to.include({
      outcome: 'rest_svc_provider_error',
      images: 0,
      model: 'oil',
      duration: 1500,
    });
    const unusable = await generating(painter([{ images: [{ ...image, b64_json: 'aGVsbG8=' }] }]));
    await failureOf(unusable.generate({ ...call, form: 'url' }));
    await until('the record', () => unusable.records.length > 0);
    expect(unusable.records[0]).to.include({
      outcome: 'rest_svc_provider_error',
      images: 1,
      outputTokens: 40,
      model: 'oil-2',
    });
  });

  it('tells it nothing where no provider was asked', async () => {
    const { generate, records } = await generating(painter(), { provider: () => Promise.resolve({}) });
    expect(((await failureOf(generate(call))) as RestError).code).to.equal('rest_svc_provider_not_configured');
    expect(((await failureOf(generate({ ...call, provider: 'nobody' }))) as RestError).code).to.equal(
      'rest_invalid_param',
    );
    expect(records).to.deep.equal([]);
  });

  it('takes saved defaults, which the call overrides', async () => {
    const far = painter();
    const { generate } = await generating(far, {
      imageDefaults: () => Promise.resolve({ size: '1024x1024', quality: 'hd' }),
    });
    await generate({ ...call, quality: 'standard', style: 'vivid' });
    expect(far.requests[0]).to.deep.equal({
      model: 'oil',
      prompt: 'A lighthouse',
      n: 1,
      size: '1024x1024',
      quality: 'standard',
      style: 'vivid',
      responseFormat: 'b64_json',
    });
  });

  it('keeps everything in the media library for a module that says so, an address too', async () => {
    const far = painter([
      {},
      {
        images: [
          { ...image, b64_json: null, url: 'https://images.example.com/1.png', revised_prompt: 'A white lighthouse' },
        ],
      },
    ]);
    const { generate, saved, fetched } = await generating(far);
    const { images } = await generate({ ...call, form: 'media', n: 2, userId: 5 });
    expect(images.map(({ url, b64_json, media }) => [url, b64_json, media?.id])).to.deep.equal([
      ['http://localhost/uploads/1.png', null, 1],
      ['http://localhost/uploads/2.png', null, 2],
    ]);
    expect(fetched).to.deep.equal(['https://images.example.com/1.png']);
    expect(saved.map(({ authorId, title }) => [authorId, title])).to.deep.equal([
      [5, 'A lighthouse'],
      [5, 'A lighthouse'],
    ]);
    expect(saved.map(({ alt }) => alt)).to.have.members(['A lighthouse', 'A white lighthouse']);
    expect(far.requests[0]?.responseFormat).to.equal('b64_json');
  });

  it('holds providers of other plugins to the contract', async () => {
    for (const broken of [{ images: [] }, { images: undefined as never }, { images: 'none' as never }]) {
      const { generate } = await generating(painter([broken]));
      expect(((await failureOf(generate(call))) as RestError).code).to.equal('rest_svc_provider_error');
    }
    const far = painter([{ images: [image, image, image] }]);
    expect((await (await generating(far)).generate(call)).images).to.have.length(1);
  });

  it('throws a fault of ours as it is', async () => {
    const { generate, records } = await generating(painter([new TypeError('x is not a function')]));
    expect(await failureOf(generate(call))).to.be.instanceOf(TypeError);
    await until('the record', () => records.length > 0);
    expect(records[0]?.outcome).to.equal('rest_internal_error');
  });

  it('ends when its caller gives up, without further calls', async () => {
    const far = painter([new ProviderError({ kind: 'aborted', message: 'the request was given up.' })]);
    const { generate } = await generating(far);
    expect(((await failureOf(generate({ ...call, signal: AbortSignal.abort() }))) as RestError).code).to.equal(
      'rest_svc_request_aborted',
    );
  });

  it('names what any call left out, once', async () => {
    const { generate } = await generating(painter([{ ignored: ['style'] }, { ignored: ['style', 'size'] }]));
    expect((await generate({ ...call, n: 2 })).ignored).to.have.members(['style', 'size']);
  });
});
