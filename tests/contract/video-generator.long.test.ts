import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Ajv } from 'ajv';
import { expect } from 'chai';
import { createTestHost, type TestHost } from '#testing';
import { createSystemClock } from '../../host/clock.ts';
import { imageGeneratedEvent } from '../../plugins/svc/modules/images/image-generated.event.ts';
import type { Provider, VideoProgress } from '../../plugins/svc/providers/provider.ts';
import { callsByUser } from '../helpers/calls-by-user.ts';
import { describeDialects } from '../helpers/dialects.ts';
import type { Fields } from '../helpers/fields.ts';
import { until } from '../helpers/until.ts';

const sample = new URL('../../plugins/sandbox/videos/sample.mp4', import.meta.url);

describeDialects('the video generator', (_open, { location }) => {
  const hosts: TestHost[] = [];
  let files: Server | undefined;
  const opened = async (plugins: readonly string[]): Promise<TestHost> => {
    const { databaseUrl, dataDir } = location();
    const host = await createTestHost({ plugins, clock: createSystemClock(), database: databaseUrl ?? dataDir });
    hosts.push(host);
    return host;
  };
  afterEach(async () => {
    for (const host of hosts.splice(0)) await host.stop();
    files?.close();
    files = undefined;
  });

  async function run(host: TestHost, ...words: string[]): Promise<Fields[] & Fields> {
    const { code, out, err } = await host.cli('svc', ...words, ...(words.includes('--json') ? [] : ['--json']));
    if (code !== 0) throw new Error(err);
    return JSON.parse(out) as Fields[] & Fields;
  }
  const generate = (host: TestHost, fields: Fields): Promise<Fields> =>
    run(host, 'video', 'generate', '--json', JSON.stringify({ prompt: 'Waves at dusk', ...fields }));
  const eventsOf = (host: TestHost): Fields[] => {
    const events: Fields[] = [];
    host.hooks.addAction('svc_event_image_generated', (_data: unknown, envelope: Fields) => events.push(envelope));
    return events;
  };

  it('generates with Google in the sandbox: a playable file, its history and its event', async () => {
    const host = await opened(['svc', 'sandbox']);
    await host.cli('svc', 'sandbox', 'on');
    const events = eventsOf(host);
    const { videos, id } = await generate(host, { size: '1920x1080', seconds: 4 });
    const media = await host.content.media.get(events[0]!.data.outputs.videos[0].media_id);
    expect(videos).to.have.length(1);
    expect(videos[0]).to.deep.include({ prompt: 'Waves at dusk', model: 'veo-3.1-generate-preview', cost: 0 });
    expect(Buffer.from((await host.content.media.read(media!.id))!).equals(await readFile(sample))).to.equal(true);
    expect(events).to.have.length(1);
    const [{ data, source, resource }] = events as [Fields];
    const ajv = new Ajv({ allErrors: true, allowUnionTypes: true });
    expect(ajv.validate(imageGeneratedEvent.schema, data), ajv.errorsText()).to.equal(true);
    expect(data).to.deep.include({
      media_type: 'video',
      mode: 'generate',
      output_count: 1,
      provider: 'Google',
      outputs: {
        images: [],
        videos: [
          { media_id: media!.id, url: media!.url, size: media!.size, mime_type: 'video/mp4', revised_prompt: null },
        ],
      },
    });
    expect([source, resource?.id]).to.deep.equal([{ module: 'image_generator', origin: 'admin_image_generator' }, id]);
    const refused = await generate(host, { prompt: 'A withheld film' }).catch((error: unknown) => String(error));
    expect(refused).to.contain('withheld this video');
    expect((await run(host, 'video', 'list')).map(({ state }) => state)).to.deep.equal(['failed', 'done']);
    expect(events).to.have.length(1);
  });

  /** A provider of another plugin, whose operation runs until the test ends it. */
  async function plugged(host: TestHost, upstream: { starts: number; done: boolean; broken?: boolean }): Promise<void> {
    files ??= await new Promise<Server>((resolve) => {
      const server: Server = createServer((_request, response) => {
        void readFile(sample).then((bytes) => response.setHeader('content-type', 'video/mp4').end(bytes));
      }).listen(0, '127.0.0.1', () => resolve(server));
    });
    const origin = `http://127.0.0.1:${String((files.address() as AddressInfo).port)}`;
    const acme = {
      id: 'acme',
      label: 'Acme',
      required: [],
      settings: { type: 'object', properties: { base_url: { type: 'string' } } },
      videos: {
        takes: () => ({ sizes: [], seconds: [8] }),
        start: async ({ model }) => {
          upstream.starts += 1;
          if (upstream.broken) throw new Error('The process ended.');
          return Promise.resolve({ name: 'operations/1', model, seconds: 8, ignored: [] });
        },
        check: async (): Promise<VideoProgress> =>
          Promise.resolve(
            upstream.done ? { state: 'done', videos: [{ url: `${origin}/film` }], usage: null } : { state: 'running' },
          ),
      },
      listModels: async () => Promise.resolve([]),
    } satisfies Provider;
    host.hooks.addFilter('svc_providers', (providers) => [...providers, acme]);
    host.hooks.addFilter('svc_provider_settings', (settings: Fields, id: string) =>
      id === 'acme' ? { ...settings, base_url: origin } : settings,
    );
  }

  it('is filled by a plugin, and goes on after a restart without a second start; the price is by the second', async () => {
    const upstream = { starts: 0, done: false };
    const first = await opened(['svc']);
    await plugged(first, upstream);
    await first.cli('svc', 'prices', 'set', JSON.stringify([{ provider: 'acme', model: 'film-1', second: 0.5 }]));
    const writing = generate(first, { provider: 'acme', model: 'film-1' }).catch((error: unknown) => error);
    await until('the state of the video', async () => (await run(first, 'video', 'list'))[0]?.state === 'running');
    const second = await opened(['svc']);
    await plugged(second, upstream);
    const events = eventsOf(second);
    await first.stop();
    await writing;
    upstream.done = true;
    await second.jobs.drain();
    await until('the state of the video', async () => (await run(second, 'video', 'list'))[0]?.state === 'done');
    expect(upstream.starts).to.equal(1);
    expect(events.map(({ data }) => [data.media_type, data.provider, data.outputs.videos.length])).to.deep.equal([
      ['video', 'Acme', 1],
    ]);
    const [video] = await run(second, 'image', 'list');
    // 8 seconds at $0.50.
    expect(video).to.deep.include({ prompt: 'Waves at dusk', provider: 'Acme', model: 'film-1', cost: 4 });
  });

  it('is charged to the user who requested it', async () => {
    const host = await opened(['svc']);
    await plugged(host, { starts: 0, done: true });
    const id = '22222222-2222-4222-8222-222222222222';
    const request = JSON.stringify({ prompt: 'Waves', provider: 'acme', model: 'film-1' });
    const job = { id, state: 'queued', user_id: 7, request, message: '', created_at: 1 };
    await host.database.knex('svc_video_jobs').insert(job);
    await host.jobs.forOwner('svc').add('video', { id });
    await until('the state of the video', async () => (await run(host, 'video', 'list'))[0]?.state === 'done');
    expect(await callsByUser(host, 'images')).to.deep.equal({ 7: 1 });
  });

  it('never sends a request twice whose answer is unknown, and keeps within budgets', async () => {
    const upstream = { starts: 0, done: true };
    const host = await opened(['svc']);
    await plugged(host, upstream);
    await host.cli('svc', 'prices', 'set', JSON.stringify([{ provider: 'acme', model: 'film-1', second: 0.5 }]));
    await host.database.knex('svc_video_jobs').insert({
      id: '11111111-1111-4111-8111-111111111111',
      state: 'starting',
      user_id: 0,
      request: JSON.stringify({ prompt: 'Half sent', provider: 'acme', model: 'film-1' }),
      message: '',
      created_at: 1,
    });
    await host.jobs.forOwner('svc').add('video', { id: '11111111-1111-4111-8111-111111111111' });
    await until('the state of the video', async () => (await run(host, 'video', 'list'))[0]?.state === 'failed');
    expect(upstream.starts).to.equal(0);
    expect((await run(host, 'video', 'list'))[0]?.message).to.contain('It may have been charged.');
    const budget = { id: 'films', name: 'Films', scope: 'all', unit: 'dollars', amount: 3, period: 'month' };
    await run(host, 'budget', 'set', JSON.stringify(budget));
    const refused = await generate(host, { provider: 'acme', model: 'film-1' }).catch((error: unknown) =>
      String(error),
    );
    expect(refused).to.contain('budget');
    expect(upstream.starts).to.equal(0);
  });
});
