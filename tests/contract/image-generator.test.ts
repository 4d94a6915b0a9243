import { Ajv } from 'ajv';
import { expect } from 'chai';
import { serviceEvents } from '../../plugins/svc/events.ts';
import { describeSharedHosts } from '../helpers/dialects.ts';
import { shareSite } from '../helpers/share-site.ts';
import { png } from './images-upstream.ts';
import { failed, picture, startImagesService, type ImagesService } from './images-service.ts';
import { contractFields } from './webhook-fields.ts';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';
import type { Fields } from '../helpers/fields.ts';

describeSharedHosts('the image generator', ({ location }) => {
  let service: ImagesService;
  let receiver: WebhookReceiver;
  const shared = shareSite(
    () => {
      const { databaseUrl, dataDir } = location();
      return startImagesService({ database: databaseUrl ?? dataDir });
    },
    (opened) => opened.stop(),
  );
  beforeEach(async () => {
    service = shared();
    receiver = await startWebhookReceiver();
    await run('svc', 'webhook', 'on');
    await run(
      'svc',
      'webhook',
      'add',
      '--json',
      JSON.stringify({ name: 'Shop', url: receiver.url, events: ['image.generated'] }),
    );
  });
  afterEach(() => receiver.stop());

  const run = async (...words: string[]): Promise<unknown> => {
    const { code, out, err } = await service.host.cli(...words);
    if (code !== 0) throw new Error(err);
    return /^[[{]/.test(out) ? (JSON.parse(out) as unknown) : out;
  };
  const generate = (fields: Fields): Promise<Fields> =>
    run(
      'svc',
      'image',
      'generate',
      '--json',
      JSON.stringify({ prompt: 'A lighthouse', provider: 'openai', model: 'gpt-image-1', ...fields }),
    ) as Promise<Fields>;
  const edit = (fields: Fields): Promise<Fields> =>
    run(
      'svc',
      'image',
      'edit',
      '--json',
      JSON.stringify({ prompt: 'Make it night', provider: 'openai', model: 'gpt-image-1', ...fields }),
    ) as Promise<Fields>;
  const list = (): Promise<Fields[]> => run('svc', 'image', 'list', '--json') as Promise<Fields[]>;
  const giving = (...pictures: readonly string[]): void => {
    service.upstream.answer(() => ({
      body: {
        created: 1,
        data: pictures.map((b64_json) => ({ b64_json })),
        usage: { input_tokens: 5, output_tokens: 10, total_tokens: 15 },
      },
    }));
  };
  const mediaCount = (): Promise<number> => service.host.content.posts.count({ type: 'attachment', status: 'any' });
  const events = async (count: number): Promise<readonly Fields[]> =>
    (await receiver.first(count)).map(({ body }) => JSON.parse(body.toString()) as Fields);
  const check = (event: Fields): void => {
    const ajv = new Ajv({ allErrors: true, allowUnionTypes: true, strict: false });
    expect(
      ajv.validate(serviceEvents.find(({ name }) => name === event['type'])?.schema ?? false, event['data']),
      ajv.errorsText(),
    ).to.equal(true);
    const missing = (contractFields['image.generated'] ?? []).filter(
      (path) =>
        path.split('.').reduce<unknown>((value, name) => (value as Fields | undefined)?.[name], event['data']) ===
        undefined,
    );
    expect(missing).to.deep.equal([]);
  };

  it('keeps images in the media library and in the history, and tells of them once, without their bytes', async () => {
    giving(picture(1), picture(2));
    const { images, message } = await generate({ n: 2, size: '1024x1024', quality: 'hd' });
    expect(message).to.equal('2 images generated.');
    const [event] = await events(1);
    check(event!);
    expect(event!['source']).to.deep.equal({ module: 'image_generator', origin: 'admin_image_generator' });
    expect(event!['resource'].type).to.equal('image_generation');
    expect(event!['data']).to.deep.include({
      prompt: 'A lighthouse',
      provider: 'OpenAI',
      model: 'gpt-image-1',
      mode: 'generate',
      media_type: 'image',
      output_count: 2,
    });
    expect(event!['data'].usage).to.deep.include({ output_tokens: 10 });
    expect(event!['data'].outputs).to.deep.equal({
      images: images.map(({ media_id, url, size, mime_type }: Fields) => ({
        media_id,
        url,
        size,
        mime_type,
        revised_prompt: null,
      })),
      videos: [],
    });
    expect(JSON.stringify(event)).not.to.contain(picture(1).slice(0, 40));
    expect((await list()).map(({ id, prompt, mode }) => [id, prompt, mode])).to.deep.equal([
      [images[1].id, 'A lighthouse', 'generate'],
      [images[0].id, 'A lighthouse', 'generate'],
    ]);
    expect(
      Buffer.from((await service.host.content.media.read(images[0].media_id as number)) ?? []).equals(png(1)),
    ).to.equal(true);
    await generate({});
    const keys = (await events(2)).map(({ idempotency_key }) => idempotency_key as string);
    expect(new Set(keys).size).to.equal(2);
  });

  it('shares the cost of a request among its images, so that it adds up to the ledger', async () => {
    await service.host.options.update('svc_prices', [
      { provider: 'openai', model: 'gpt-image-1', input: 1, output: 1, image: 0.01 },
    ]);
    giving(picture(1), picture(2), picture(3));
    const { cost, images } = await generate({ n: 3 });
    expect(cost).to.equal(0.030015);
    expect(
      images.reduce((sum: number, image: Fields) => sum + Math.round((image['cost'] as number) * 1_000_000), 0),
    ).to.equal(30_015);
  });

  it('edits an image by the form the upstream takes; the version knows its parent', async () => {
    giving(picture(1));
    const first = (await generate({})).images[0] as Fields;
    giving(picture(9));
    const {
      images: [version],
    } = await edit({ image: first['id'], n: 1, quality: 'hd' });
    const [call] = service.upstream.calls;
    expect(call?.path).to.equal('/v1/images/edits');
    expect(call?.headers['content-type']).to.match(/^multipart\/form-data; boundary=/);
    expect(call?.body).to.deep.include({ model: 'gpt-image-1', prompt: 'Make it night', n: '1', quality: 'high' });
    expect((call?.body['image'] as Buffer).equals(png(1))).to.equal(true);
    expect(version).to.deep.include({ mode: 'edit', parent_id: first['id'] });
    const event = (await events(2))[1]!;
    check(event);
    expect(event['data']).to.deep.include({ mode: 'edit', prompt: 'Make it night', output_count: 1 });
    // What it was made of goes; the version stays, without a parent.
    await run('svc', 'image', 'delete', String(first['id']), '--json');
    expect((await list()).map(({ id, parent_id }) => [id, parent_id])).to.deep.equal([[version.id, null]]);
    expect([await mediaCount(), await service.host.content.media.get(first['media_id'] as number)]).to.deep.equal([
      1,
      null,
    ]);
  });

  it('refuses to edit what a model does not take, before anything is spent', async () => {
    giving(picture(1));
    const { media_id: media } = (await generate({})).images[0] as Fields;
    service.upstream.answer(() => ({ body: {} }));
    const refused: [Fields, RegExp][] = [
      [{ media, model: 'dall-e-3' }, /dall-e-3 of OpenAI cannot edit images/],
      [{ media, model: 'dall-e-2' }, /edits square images alone, and this one has 2 by 3 pixels/],
      [{ media, provider: 'xai', model: 'grok-imagine-image' }, /grok-imagine-image of xAI cannot edit images/],
      [{ media: 999 }, /Image not found/],
      [{ image: 99 }, /No image has the id 99/],
      [{ media, prompt: '  ' }, /must not be blank/],
    ];
    for (const [fields, reason] of refused) {
      const { code, err } = await service.host.cli(
        'svc',
        'image',
        'edit',
        '--json',
        JSON.stringify({ prompt: 'Make it night', provider: 'openai', model: 'gpt-image-1', ...fields }),
      );
      expect([code, reason.test(err)], err).to.deep.equal([1, true]);
    }
    expect(service.upstream.calls).to.deep.equal([]);
  });

  it('tells nothing of a request that failed, and keeps nothing', async () => {
    service.upstream.answer(() => failed(400, 'Your request was rejected by the safety system.'));
    expect(
      (
        await service.host.cli(
          'svc',
          'image',
          'generate',
          '--json',
          '{"prompt":"x","provider":"openai","model":"gpt-image-1"}',
        )
      ).err,
    ).to.contain('safety system');
    giving(picture(1));
    await generate({ prompt: 'The next one' });
    expect((await events(1))[0]!['data'].prompt).to.equal('The next one');
    expect([(await list()).length, await mediaCount(), receiver.received.length]).to.deep.equal([1, 1, 1]);
  });

  it('deletes images again that could not be put into the history', async () => {
    giving(picture(1), picture(2));
    service.host.hooks.addFilter('svc_image_job', (job) => ({
      ...job,
      request: 'x'.repeat(10_000),
      origin: null as never,
    }));
    expect(
      (
        await service.host.cli(
          'svc',
          'image',
          'generate',
          '--json',
          '{"prompt":"x","provider":"openai","model":"gpt-image-1","n":2}',
        )
      ).code,
    ).to.equal(1);
    expect([(await list()).length, await mediaCount()]).to.deep.equal([0, 0]);
  });

  it('forgets what is deleted in the media library', async () => {
    giving(picture(1));
    const { media_id: media } = (await generate({})).images[0] as Fields;
    await service.host.content.media.delete(media as number);
    expect(await list()).to.deep.equal([]);
  });

  it('lets plugins change and refuse what is drawn, and tells them what came of it', async () => {
    const told: unknown[] = [];
    service.host.hooks.addFilter('svc_image_job', (job) => {
      if (job.prompt === 'no') throw Object.assign(new Error('Not here.'), { code: 'rest_mine', status: 403 });
      return { ...job, prompt: `${job.prompt}, in watercolour` };
    });
    service.host.hooks.addAction('svc_image_generated', (images) => told.push(images.map(({ prompt }) => prompt)));
    service.host.hooks.addAction('svc_image_failed', (_error, job) => told.push(`failed ${job.prompt}`));
    service.host.hooks.addAction('svc_image_deleted', ({ id }) => told.push(`deleted ${String(id)}`));
    giving(picture(1));
    const [{ id }] = (await generate({})).images as [Fields];
    expect(service.upstream.calls[0]?.body['prompt']).to.equal('A lighthouse, in watercolour');
    expect(
      (await service.host.cli('svc', 'image', 'generate', '--json', '{"prompt":"no","provider":"openai"}')).err,
    ).to.contain('Not here.');
    await run('svc', 'image', 'delete', String(id), '--json');
    expect(told).to.deep.equal([['A lighthouse, in watercolour'], 'failed no', `deleted ${String(id)}`]);
  });
});
