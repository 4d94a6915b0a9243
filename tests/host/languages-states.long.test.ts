import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createTestHost, type TestHost } from '#testing';
import { createBrowser, password, type AdminBrowser } from '../pages/pages-site.ts';
import { englishTexts } from './english-texts.ts';

/** Data: names of plugins, providers and models, and what the sandbox generates. */
const data: ReadonlySet<string> = new Set([
  'host',
  'svc',
  'sandbox',
  'Sandbox',
  'svc AI service',
  'Qdrant',
  'OpenAI',
  'echo: ZX',
  '0 ms',
]);

/** Everything that users name is called ZX, which is no English text. */
describe('a site in the pseudo-language that has been worked with', () => {
  let host: TestHost;
  let browser: AdminBrowser;
  before(async () => {
    host = await createTestHost({ plugins: ['svc', 'sandbox'] });
    await host.options.update('WPLANG', 'en_XA');
    await host.options.update('blogname', '42');
  });
  after(() => host.stop());

  async function run(...argv: (string | object)[]): Promise<unknown> {
    const words = argv.map((word) => (typeof word === 'string' ? word : JSON.stringify(word)));
    const { code, out, err } = await host.cli(...words);
    expect(code, err).to.equal(0);
    return JSON.parse(out);
  }

  /** The English texts of the page, which must exist. */
  async function english(path: string, visitor: Pick<AdminBrowser, 'get'> = browser): Promise<string[]> {
    const { html, status } = await visitor.get(path);
    expect(status, path).to.equal(200);
    return englishTexts(html).filter((text) => !data.has(text) && !text.includes('Drawn by the sandbox'));
  }

  it('shows no English text while it is set up, with and without errors', async () => {
    const visitor = createBrowser(host);
    const { pathname, search, searchParams } = new URL(host.setupLink ?? '');
    const fields = { token: searchParams.get('token') ?? '', site_name: '42', login: '1', email: '1@2.de', password };
    const refused = await visitor.post(pathname, { ...fields, password: '1', password_again: '2' });
    expect(refused.status).to.equal(400);
    expect(englishTexts(refused.html)).to.deep.equal([]);
    expect(await english(`${pathname}${search}`, visitor)).to.deep.equal([]);
    const made = await visitor.post(pathname, { ...fields, password_again: password });
    expect(made.location).to.equal('/admin/setup/choice');
    expect(await english('/admin/setup/choice', visitor)).to.deep.equal([]);
    const used = await createBrowser(host).get(`${pathname}${search}`);
    expect(englishTexts(used.html)).to.deep.equal([]);
    browser = visitor;
    await run('svc', 'sandbox', 'on', '--json');
  });

  it('shows none on pages of a knowledge base, a conversation, an image and used webhooks', async () => {
    const { id: base } = (await run(
      ...['svc', 'knowledge', 'create', 'ZX', '--store=qdrant', '--target=zx', '--provider=openai'],
      ...['--model=text-embedding-3-small', '--json'],
    )) as { id: number };
    await run('svc', 'knowledge', 'add', String(base), '--title=ZX', '--text=ZX ZX', '--json');
    const { id: bot } = (await run('svc', 'bot', 'create', '--json', { name: 'ZX' })) as { id: number };
    const { key } = (await run('svc', 'key', 'generate', '--json')) as { key: string };
    const conversation = randomUUID();
    const { status } = await host.fetch(`/wp-json/svc/v1/chat/${String(bot)}/message`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ conversation_uuid: conversation, messages: [{ role: 'user', content: 'echo: ZX' }] }),
    });
    expect(status).to.equal(200);
    const image = (await run('svc', 'image', 'generate', '--json', { prompt: 'ZX' })) as { images: { id: number }[] };
    expect(image).to.be.an('object');
    const found: Record<string, string[]> = {};
    for (const path of [
      `knowledge/base?id=${String(base)}`,
      'logs',
      `conversation?conversation=${conversation}`,
      'images',
      'usage',
      'deliveries/check',
      'vector-stores?list=qdrant',
      'prices',
    ]) {
      const texts = await english(`/admin/svc/${path}`);
      if (texts.length > 0) found[path] = texts;
    }
    expect(found).to.deep.equal({});
  });

  it('shows none of personal data: what was found, an error, and the receipt of a deletion', async () => {
    const page = '/admin/svc/personal-data';
    for (const query of ['', '?by=email&value=7@8.de', '?by=user&value=1', '?by=email&value=7', '?by=session&value=7'])
      expect(await english(`${page}${query}`), query).to.deep.equal([]);
    await browser.submit(`${page}?by=user&value=1`, 'erase', { by: 'user', value: '1' });
    expect(await english(page)).to.deep.equal([]);
  });

  it('shows none of images for visitors: the form, its notices and refusals', async () => {
    const public_ = { models: ['openai:dall-e-3', 'openai:gpt-image-1'], guest_per_day: 1 };
    await run('svc', 'image', 'public', 'on', '--json', public_);
    const content = '[svc_images]';
    const { id } = await host.content.posts.create({
      type: 'page',
      title: 'ZX',
      slug: 'zx',
      content,
      status: 'publish',
    });
    expect(id).to.be.above(0);
    const visitor = createBrowser(host);
    await run('svc', 'image', 'public', 'on', '--json', { ...public_, guest_per_day: 0 });
    expect(await english('/zx/', visitor)).to.deep.equal([]);
    await run('svc', 'image', 'public', 'on', '--json', public_);
    expect(await english('/zx/', visitor)).to.deep.equal([]);
    const { html } = await visitor.get('/zx/');
    const [, token = ''] = /name="token" value="([^"]+)"/.exec(html) ?? [];
    const [, action = ''] = /<form[^>]*action="[^"]*(\/wp-json\/svc-widget\/v1\/images)"/.exec(html) ?? [];
    for (const fields of [
      { prompt: '', token: 'x' },
      { prompt: '1', token },
      { prompt: '1', token, model: 'x:y' },
      { prompt: '1', token, consent: '1' },
      { prompt: '2', token, consent: '1' },
    ]) {
      const headers = { accept: 'application/json', 'content-type': 'application/json', origin: host.url };
      const answer = await host.fetch(action, { method: 'POST', headers, body: JSON.stringify(fields) });
      const { message, data: { params = {} } = {} } = (await answer.json()) as {
        readonly message?: string;
        readonly data?: { readonly params?: Readonly<Record<string, string>> };
      };
      for (const text of [message, ...Object.values(params)])
        if (text) expect(text, JSON.stringify(fields)).to.match(/^⟦.*⟧$/);
      // The form without JavaScript.
      const body = new URLSearchParams({ ...fields, request: randomUUID() });
      const asPage = await host.fetch(action, {
        method: 'POST',
        headers: { origin: host.url },
        body,
        redirect: 'manual',
      });
      expect(englishTexts(await asPage.text()), JSON.stringify(fields)).to.deep.equal([]);
    }
  });
});
