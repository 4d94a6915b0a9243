import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { callsByUser } from '../helpers/calls-by-user.ts';
import { describeHosts } from '../helpers/dialects.ts';
import { failed, picture, startImagesService, type ImagesService } from './images-service.ts';
import { imageVisitor } from './image-visitor.ts';
import { createFakeClock } from '#testing';
import { deferred } from '../jobs/site.ts';
import type { Fields } from '../helpers/fields.ts';
import { until } from '../helpers/until.ts';

describeHosts('images for visitors', ({ location, directory }) => {
  let service: ImagesService;
  beforeEach(async function () {
    this.timeout(60_000);
    const { databaseUrl, dataDir } = location();
    service = await startImagesService({ database: databaseUrl ?? dataDir });
    service.upstream.answer(() => ({
      body: { created: 1, data: [{ b64_json: picture(1) }, { b64_json: picture(2) }] },
    }));
  });
  afterEach(() => service.stop());

  const set = async (settings: Fields = {}): Promise<void> => {
    const { code, err } = await service.host.cli(
      'svc',
      'image',
      'public',
      'on',
      '--json',
      JSON.stringify({ models: ['openai:gpt-image-1'], guest_per_day: 3, ...settings }),
    );
    if (code !== 0) throw new Error(err);
  };
  const images = async (): Promise<Fields[]> =>
    JSON.parse((await service.host.cli('svc', 'image', 'list', '--json')).out) as Fields[];
  const signIn = async (login: string, role = 'subscriber'): Promise<string> => {
    const secret = 'a long password';
    await service.host.users.create({
      login,
      email: `${login}@example.com`,
      password: secret,
      displayName: login,
      role,
    });
    const answer = await service.host.fetch('/admin/login', {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ login, password: secret }),
    });
    return (
      answer.headers
        .getSetCookie()
        .find((one) => one.startsWith('svc_session='))
        ?.split(';', 1)[0] ?? ''
    );
  };

  it('are off until they are switched on: no form, and nothing is drawn', async () => {
    expect(await service.host.content.doShortcode('[svc_images]')).to.equal('');
    await set();
    const visitor = await imageVisitor(service);
    await service.host.cli('svc', 'image', 'public', 'off');
    expect((await visitor.ask({})).body['code']).to.equal('rest_svc_images_not_offered');
    expect(service.upstream.calls).to.deep.equal([]);
  });

  it('are refused to other sites, old pages, without consent, with banned words, and beyond what is offered; nothing is spent', async () => {
    await set({ banned_words: ['weapon'], sizes: ['1024x1024'], most: 2 });
    const visitor = await imageVisitor(service);
    const refused: [Fields, Record<string, string>, number, string][] = [
      [{}, { origin: 'https://evil.example' }, 403, 'rest_svc_image_refused'],
      [{}, { 'sec-fetch-site': 'cross-site' }, 403, 'rest_svc_image_refused'],
      [{ token: '1.aaaaaaaaaaaaaaaaaaaaaa' }, {}, 403, 'rest_svc_image_refused'],
      [{ consent: false }, {}, 403, 'rest_svc_consent_required'],
      [{ prompt: 'a WEAPON!' }, {}, 403, 'rest_svc_image_refused'],
      [{ prompt: ' ' }, {}, 400, 'rest_invalid_param'],
      [{ prompt: 'x'.repeat(1001) }, {}, 400, 'rest_invalid_param'],
      [{ model: 'openai:dall-e-3' }, {}, 400, 'rest_invalid_param'],
      [{ size: '4096x4096' }, {}, 400, 'rest_invalid_param'],
      [{ n: 3 }, {}, 400, 'rest_invalid_param'],
    ];
    for (const [request, headers, status, code] of refused) {
      const answer = await visitor.ask(request, headers);
      expect([answer.status, answer.body['code']], JSON.stringify(request)).to.deep.equal([status, code]);
    }
    expect([service.upstream.calls.length, (await visitor.mine()).body['left']]).to.deep.equal([0, 3]);
    // A page that a cache kept for more than two days.
    service.clock.jump(3 * 24 * 3600_000);
    expect((await visitor.ask({})).body['message']).to.contain('Reload it');
  });

  it('are limited a day, by session and by address, exactly, however many are asked for at once', async () => {
    await set({ texts: { limit: 'Enough for today.' } });
    const visitor = await imageVisitor(service);
    // Begins the session: a browser that asks ten times before its first answer has ten of them.
    await visitor.mine();
    const answers = await Promise.all(Array.from({ length: 10 }, () => visitor.draw({})));
    expect(answers.filter(({ body }) => body['state'] === 'done')).to.have.length(3);
    const over = answers.filter(({ status }) => status === 429);
    expect([over.length, over[0]?.body['code'], over[0]?.body['message']]).to.deep.equal([
      7,
      'rest_svc_image_limit_reached',
      'Enough for today.',
    ]);
    expect(Number(over[0]?.headers.get('retry-after'))).to.be.greaterThan(0);
    // Another browser of the same address shares the day's images.
    expect((await (await imageVisitor(service)).ask({})).status).to.equal(429);
    expect(await images()).to.have.length(3);
    service.clock.jump(24 * 3600_000);
    expect((await visitor.draw({})).body['state']).to.equal('done');
  });

  it('are counted for users by themselves, with a limit of their own, which plugins may change', async () => {
    await set();
    const [guest, user] = [await imageVisitor(service), await imageVisitor(service, { cookie: await signIn('bob') })];
    await set({ guest_per_day: 0, user_per_day: 1 });
    expect((await guest.ask({})).status).to.equal(429);
    expect(await service.host.content.doShortcode('[svc_images]')).to.contain('Sign in to generate images.');
    expect((await user.draw({})).body).to.deep.include({ state: 'done', left: 0 });
    expect((await user.ask({})).status).to.equal(429);
    service.host.hooks.addFilter('svc_image_visitor_limit', (perDay: number | null, { user: { id } }: Fields) =>
      id > 0 ? null : perDay,
    );
    expect((await user.draw({})).body).to.deep.include({ state: 'done', left: null });
    expect(await callsByUser(service.host, 'images')).to.deep.equal({ 1: 2 });
  });

  it('that could not be drawn count for nothing, and their visitor reads no more of it than is good', async () => {
    await set();
    const visitor = await imageVisitor(service);
    service.upstream.answer(() => failed(401, 'Bad key sk-secret.'));
    expect((await visitor.draw({})).body).to.deep.include({
      state: 'failed',
      message: 'The image could not be generated. Try again later.',
      left: 3,
    });
    service.upstream.answer(() => failed(400, 'Rejected by the safety system.'));
    expect((await visitor.draw({})).body['message']).to.contain('rejected this description');
  });

  it('of a node that died are given back', async () => {
    await set();
    const visitor = await imageVisitor(service);
    service.upstream.answer(() => ({ instead: 'hang' }));
    const {
      body: { id },
    } = await visitor.ask({});
    expect((await visitor.state(id as string)).body).to.deep.include({ state: 'drawing', left: 2 });
    // Its lease has ended: another attempt finds it, whatever its node does.
    await service.upstream.asked(1);
    await service.host.database.knex('jobs').where({ name: 'visitor-image' }).update({ due_at: 1 });
    const drained = service.host.jobs.drain();
    const body = await visitor.ended(id as string);
    expect(body).to.deep.include({ state: 'failed', left: 3 });
    expect(body['message']).to.contain('does not count');
    await service.clock.advance(8_000);
    await drained;
    expect((await visitor.state(id as string)).body).to.deep.include({ state: 'failed', left: 3 });
    expect(service.upstream.calls).to.have.length(1);
  });

  it('are neither lost nor repeated by nodes whose clocks are ten minutes off', async () => {
    await set();
    const gate = deferred();
    service.host.hooks.addFilter('svc_image_job', async <Job>(job: Job) => {
      await gate.promise;
      return job;
    });
    const visitor = await imageVisitor(service);
    const { id } = (await visitor.ask({})).body;
    const { databaseUrl, dataDir } = location();
    for (const minutes of [10, -10]) {
      const clock = createFakeClock({ now: service.clock.now() + minutes * 60_000, skipSleeps: true });
      const other = await startImagesService({ database: databaseUrl ?? dataDir, clock });
      await other.host.hooks.doActionAsync('svc_images_sweep');
      await other.host.jobs.drain();
      expect(other.upstream.calls).to.deep.equal([]);
      expect((await visitor.state(id as string)).body).to.deep.include({ state: 'drawing', left: 2 });
      await other.stop();
    }
    gate.resolve();
    expect(await visitor.ended(id as string)).to.deep.include({ state: 'done', left: 2 });
    expect([service.upstream.calls.length, (await images()).length]).to.deep.equal([1, 1]);
  });

  it('go on elsewhere if their node stops in the meantime', async () => {
    await set();
    const visitor = await imageVisitor(service);
    service.upstream.answer(() => ({ instead: 'hang' }));
    const { id } = (await visitor.ask({})).body;
    await service.upstream.asked(1);
    const { databaseUrl, dataDir } = location();
    const other = await startImagesService({ database: databaseUrl ?? dataDir });
    other.upstream.answer(() => ({ body: { created: 1, data: [{ b64_json: picture(1) }] } }));
    await service.stop();
    service = other;
    await other.host.jobs.drain();
    const find = async (): Promise<Fields> => service.host.database.knex('svc_image_requests').where({ id }).first();
    await until('the end of the request', async () => (await find())['state'] !== 'drawing');
    expect(await find()).to.include({ state: 'done' });
    expect([other.upstream.calls.length, (await images()).length]).to.deep.equal([1, 1]);
  });

  it('work without JavaScript: the form leads to a page of their own, with nothing on it that runs', async () => {
    await set();
    const visitor = await imageVisitor(service);
    const sent = await visitor.submit({ prompt: 'A <b>boat</b>', back: '/draw/' });
    expect(sent.status).to.equal(303);
    const location = new URL(sent.headers.get('location') ?? '');
    expect(location.searchParams.get('back')).to.equal('/draw/');
    let page = await visitor.open(location.pathname + location.search);
    while (page.text.includes('http-equiv="refresh"')) page = await visitor.open(location.pathname + location.search);
    expect([page.status, page.headers.get('content-type'), page.headers.get('cache-control')]).to.deep.equal([
      200,
      'text/html; charset=utf-8',
      'no-store',
    ]);
    expect(page.headers.get('content-security-policy')).to.contain("default-src 'none'");
    expect(page.text)
      .to.contain('<img src=')
      .and.to.contain('href="/draw/"')
      .and.not.to.contain('<script')
      .and.not.to.contain('<b>boat');
    const strange = await (await imageVisitor(service)).open(location.pathname);
    expect([strange.status, strange.text.includes('<img')]).to.deep.equal([404, false]);
    const refusal = await visitor.submit({ prompt: 'A boat', consent: '0', back: '//evil.example' });
    expect([
      refusal.status,
      refusal.text.includes('Accept the terms first'),
      refusal.text.includes('evil'),
    ]).to.deep.equal([403, true, false]);
  });

  it('are private: only the browser that requested them and editors see entry and file', async () => {
    await set();
    const { host } = service;
    const guest = await imageVisitor(service);
    const [image] = (await guest.draw({ prompt: 'My secret garden' })).body['images'] as [Fields];
    const [{ media_id: id, url }] = (await images()) as [Fields];
    const [own, direct] = [new URL(image['url'] as string).pathname, new URL(url as string).pathname];
    expect(direct).to.match(/^\/uploads\/private\/\d+\/[\da-f]{32}\.png$/);
    expect(own).to.match(/^\/wp-json\/svc-widget\/v1\/images\/[\da-f-]{36}\/0$/);
    const statusOf = async (path: string, cookie = ''): Promise<number> =>
      (await host.fetch(path, { redirect: 'manual', headers: cookie === '' ? {} : { cookie } })).status;
    const file = await guest.open(own);
    expect([file.status, file.headers.get('content-type'), file.headers.get('cache-control')]).to.deep.equal([
      200,
      'image/png',
      'private, max-age=3600',
    ]);
    const strange = await (await imageVisitor(service)).open(own);
    expect([strange.status, await statusOf(own), await statusOf(direct)]).to.deep.equal([404, 404, 404]);
    const stored = (await host.content.media.get(id as number))?.file ?? '';
    for (const path of [`/uploads/${stored}`, `/uploads/${stored.replace('private/', '')}`, `/?p=${String(id)}`])
      expect(await statusOf(path), path).to.equal(404);
    const listed = (await (await host.fetch('/wp-json/wp/v2/media?search=secret')).json()) as Fields[];
    expect([listed, await statusOf(`/wp-json/wp/v2/media/${String(id)}`)]).to.deep.equal([[], 401]);
    for (const path of ['/?s=secret', '/feed/', '/wp-json/wp/v2/media'])
      expect(await (await host.fetch(path)).text(), path).to.not.contain('garden');

    const [editor, subscriber] = [await signIn('ed', 'editor'), await signIn('sue')];
    expect([await statusOf(direct, editor), await statusOf(direct, subscriber)]).to.deep.equal([200, 404]);
    const shown = await host.fetch(direct, { headers: { cookie: editor } });
    expect([shown.headers.get('cache-control'), shown.headers.get('cross-origin-resource-policy')]).to.deep.equal([
      'private, no-cache',
      'same-origin',
    ]);
    expect(Buffer.from(await shown.arrayBuffer()).toString('base64')).to.equal(picture(1));
    await host.content.media.delete(id as number);
    expect((await guest.open(own)).status).to.equal(404);
  });

  it('of a signed-in user are shown in each of the user’s browsers', async () => {
    await set();
    const bob = await signIn('bob');
    const [first, second] = [
      await imageVisitor(service, { cookie: bob }),
      await imageVisitor(service, { cookie: bob }),
    ];
    await first.draw({});
    const [image] = (await second.mine()).body['images'] as [Fields];
    expect((await second.open(new URL(image['url'] as string).pathname)).status).to.equal(200);
    expect((await (await imageVisitor(service)).open(new URL(image['url'] as string).pathname)).status).to.equal(404);
  });

  it('that were public media before become private with their files, also when that is interrupted', async () => {
    await set({ most: 2 });
    const { host } = service;
    const { knex } = host.database;
    const guest = await imageVisitor(service);
    await guest.draw({ n: 2 });
    // As an earlier version stored them.
    const before = (await images()).reverse();
    const publicUrls: string[] = [];
    for (const { id } of before) {
      const saved = await host.content.media.save({ bytes: Buffer.from(picture(3), 'base64'), name: 'generated.png' });
      await knex('svc_images').where({ id }).update({ media_id: saved.id, url: saved.url, is_public: 1 });
      publicUrls.push(new URL(saved.url).pathname);
    }
    const statuses = () => Promise.all(publicUrls.map(async (path) => (await host.fetch(path)).status));
    expect(await statuses()).to.deep.equal([200, 200]);
    const undo = host.hooks.addFilter('wp_insert_attachment_data', () => {
      throw new Error('The node stops here.');
    });
    await host.hooks.doActionAsync('host_started');
    await host.jobs.drain();
    undo();
    // The first file has moved, its row has not followed yet.
    expect(await statuses()).to.deep.equal([404, 200]);
    await host.hooks.doActionAsync('host_started');
    // Instead of a wait for its next attempt.
    await host.jobs.cancel({ name: 'make-images-private' });
    await host.jobs.retry({ name: 'make-images-private' });
    await host.jobs.drain();
    expect(await statuses()).to.deep.equal([404, 404]);
    const after = await images();
    for (const { media_id: id, url } of after) {
      const media = await host.content.media.get(id as number);
      expect([media?.isPrivate, media?.url]).to.deep.equal([true, url]);
      expect(Buffer.from((await host.content.media.read(id as number)) ?? []).toString('base64')).to.equal(picture(3));
    }
    expect(await (await host.fetch('/wp-json/wp/v2/media')).json()).to.deep.equal([]);
    const [image] = (await guest.mine()).body['images'] as [Fields];
    expect((await guest.open(new URL(image['url'] as string).pathname)).status).to.equal(200);
    await host.hooks.doActionAsync('host_started');
    expect(await host.cron.runDue()).to.equal(0);
  });

  it('are exported and erased with a person’s other data', async () => {
    await set({ user_per_day: 5 });
    const user = await imageVisitor(service, { cookie: await signIn('bob') });
    await user.draw({ prompt: 'My house' });
    const [{ media_id: media }] = (await images()) as [Fields];
    const file = join(directory(), 'bob.jsonl');
    await service.host.cli('svc', 'logs', 'export', file, '--email=bob@example.com');
    const records = (await readFile(file, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Fields);
    expect(records.map(({ type, prompt }) => [type, prompt])).to.deep.equal([
      ['image', 'My house'],
      ['image_request', 'My house'],
    ]);
    const { out } = await service.host.cli('svc', 'logs', 'erase', '--email=bob@example.com', '--yes', '--json');
    expect(JSON.parse(out)).to.deep.include({ images: 1, image_requests: 1 });
    expect([await images(), await service.host.content.media.get(media as number)]).to.deep.equal([[], null]);
  });
});
