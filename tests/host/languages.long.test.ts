import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createTestHost, type TestHost } from '#testing';
import { createSubmissionStore } from '../../plugins/svc/modules/chatbots/forms/submission-store.ts';
import { createBrowser, password, type AdminBrowser } from '../pages/pages-site.ts';
import type { FormView } from '../../plugins/svc/modules/ai-forms/public/protocol.ts';
import { englishTexts } from './english-texts.ts';

/** Data: names of plugins, of a category, of a model, and of the program that reads the pages. */
const data: ReadonlySet<string> = new Set([
  'Uncategorized',
  'Hello',
  'Orders',
  'Sandbox',
  'Ollama, llama3.2',
  'svc AI service',
  'node',
  'host',
  'svc',
  'sandbox',
]);
const perPath = 4;
const shop = { origin: 'https://shop.example.com' };

interface Failure {
  readonly message: string;
  readonly data: { readonly params: Readonly<Record<string, string>> };
}

/** The members that are texts and have bypassed translation. */
function englishValues(values: object): string[] {
  return Object.entries(values)
    .filter(([, value]) => typeof value === 'string' && value !== '' && !/^⟦.*⟧$/.test(value))
    .map(([name, value]) => `${name}: ${String(value)}`);
}

/** Headings and parts of forms: other elements come and go with what happens on the site. */
function countElements(html: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [, name = ''] of html.matchAll(/<(h[1-4]|form|fieldset|input|select|textarea|button|table)\b/g))
    counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

function isPseudo(values: object): boolean {
  return englishValues(values).length === 0;
}

describe('a site in the pseudo-language', () => {
  let host: TestHost;
  let browser: AdminBrowser;
  before(async () => {
    host = await createTestHost({ plugins: 'found' });
    await host.users.create({ login: '1', email: '1@2.de', password, role: 'administrator' });
    await host.options.update('blogname', '42');
    browser = createBrowser(host);
    await browser.post('/admin/login', { login: '1', password });
    await host.options.update('WPLANG', 'en_XA');
  });
  after(() => host.stop());

  async function createItem(kind: 'form' | 'bot' | 'task', settings: object): Promise<{ readonly id: number }> {
    const { code, out, err } = await host.cli('svc', kind, 'create', '--json', JSON.stringify(settings));
    expect(code, err).to.equal(0);
    return JSON.parse(out) as { id: number };
  }

  /** Everything that users name is called ZX. */
  async function createNamed(): Promise<void> {
    const elements = [{ id: 'a', type: 'select', label: 'ZX', options: [{ value: '1', label: 'ZX' }] }];
    const { id: botId } = await createItem('bot', {
      ...{ name: 'ZX', status: 'active', forms: [{ id: 'f', name: 'ZX', elements }] },
      rules: [
        {
          ...{ id: 'r', name: 'ZX', enabled: true, event: 'message_received', priority: 1 },
          conditions: [{ fact: 'message', operator: 'contains', value: 'ZX' }],
          action: { type: 'display_form', form_id: 'f' },
        },
      ],
    });
    await createSubmissionStore({ host }).add({
      ...{
        id: randomUUID(),
        botId,
        formId: 'f',
        formName: 'ZX',
        conversation: randomUUID(),
        userId: 0,
        sessionId: null,
      },
      ...{ pageUrl: '', createdAt: host.clock.now(), inputs: { a: 'ZX' }, display_values: { a: 'ZX' } },
      ...{ labels: { a: 'ZX' }, summary: 'ZX: ZX' },
    });
    await createItem('form', { name: 'ZX', prompt: '{a}', elements });
    await createItem('task', { name: 'ZX', type: 'content_writing', source: { kind: 'list', items: ['ZX'] } });
    const endpoint = { name: 'ZX', url: 'https://example.com/zx', enabled: true, events: ['content.generated'] };
    expect((await host.cli('svc', 'webhook', 'add', '--json', JSON.stringify(endpoint))).code).to.equal(0);
    await host.users.create({ login: '7', email: 'z@x.de', displayName: 'ZX', password, role: 'editor' });
    await browser.submit('/admin/terms/category', 'save', { name: 'ZX' });
    for (const type of ['post', 'page'])
      await host.content.posts.create({ type, title: 'ZX', content: '', authorId: 2 });
  }

  async function post(path: string, body: object = {}): Promise<unknown> {
    const headers = { accept: 'application/json', 'content-type': 'application/json', ...shop };
    return (await host.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })).json();
  }

  /** The texts that bypass translation, by page. Follows the links from page to page. */
  async function crawl(start: string): Promise<{
    /** What `countElements` returns, by page. */
    readonly elements: ReadonlyMap<string, Record<string, number>>;
    readonly found: Record<string, string[]>;
  }> {
    const addresses = new Set([start]);
    const elements = new Map<string, Record<string, number>>();
    const found: Record<string, string[]> = {};
    const root = start.split('/')[1] ?? '';
    for (const address of addresses) {
      const { html, status } = await browser.get(address);
      expect(status, address).to.equal(200);
      elements.set(address, countElements(html));
      for (const link of linksOf(html, root)) {
        const path = link.split('?')[0];
        if ([...addresses].filter((known) => known.split('?')[0] === path).length < perPath) addresses.add(link);
      }
      // Names that users gave are never looked up: a catalog has translations of short words.
      const lookedUp = html.match(/⟦ZX[^⟦⟧]*⟧/g) ?? [];
      const texts = [...englishTexts(html).filter((text) => !data.has(text)), ...lookedUp];
      if (texts.length > 0) found[address] = texts;
    }
    return { elements, found };
  }

  it('shows no English text on any page of the admin, and all that the page shows in English', async function () {
    this.timeout(120_000);
    await createNamed();
    const { elements, found } = await crawl('/admin/');
    expect(found).to.deep.equal({});
    expect(elements.size).to.be.above(45);
    await host.options.update('WPLANG', '');
    try {
      for (const [address, counts] of elements)
        expect(counts, address).to.deep.equal(countElements((await browser.get(address)).html));
    } finally {
      await host.options.update('WPLANG', 'en_XA');
    }
  });

  it('shows no English text on pages for visitors', async () => {
    for (const address of ['/', '/?s=1', '/missing/', '/admin/login', '/admin/forgot-password']) {
      const { html } = await createBrowser(host).get(address);
      expect(englishTexts(html), address).to.deep.equal([]);
      expect(html, address).to.include(' lang="en-XA"').and.include('⟦');
    }
  });

  it('shows German to a user who has chosen it, with counts and dates', async () => {
    const [user] = await host.users.list({ search: '1' });
    await host.users.update(Number(user?.id), { profile: { locale: 'de_DE' } });
    try {
      const { html } = await browser.get('/admin/users');
      expect(html).to.include(' lang="de-DE"').and.include('2 Benutzer').and.not.include('⟦');
      expect((await browser.get('/admin/svc/bots')).html).to.include('Chatbots suchen');
    } finally {
      await host.users.update(Number(user?.id), { profile: { locale: '' } });
    }
  });

  it('is written from right to left in Arabic and Hebrew', async () => {
    for (const [locale, tag] of [
      ['ar', 'ar'],
      ['he_IL', 'he-IL'],
    ] as const) {
      await host.options.update('WPLANG', locale);
      for (const address of ['/', '/admin/login', '/missing/'])
        expect((await createBrowser(host).get(address)).html, address).to.match(
          new RegExp(`<html[^>]* lang="${tag}"[^>]* dir="rtl"`),
        );
    }
    await host.options.update('WPLANG', 'en_XA');
    expect((await browser.get('/')).html).not.to.include(' dir=');
  });

  it('shows the language that a user has chosen', async () => {
    const [user] = await host.users.list({ search: '1' });
    await host.users.update(Number(user?.id), { profile: { locale: 'en_US' } });
    try {
      expect((await browser.get('/admin/users')).html)
        .to.include(' lang="en-GB"')
        .and.not.include('⟦');
    } finally {
      await host.users.update(Number(user?.id), { profile: { locale: '' } });
    }
  });

  it('shows no English text of a form: fields, states, errors and the page without script', async () => {
    const { id } = await createItem('form', {
      name: '1',
      prompt: '{a} {b}',
      elements: [
        { id: 'a', type: 'select', label: '2', required: true, options: [{ value: '3', label: '3' }] },
        { id: 'b', type: 'file', label: '4' },
      ],
      consent: { required: true },
      embed: { enabled: true, any_site: true },
    });
    const path = `/wp-json/svc-widget/v1/forms/${String(id)}`;
    const view = (await (await host.fetch(path, { headers: shop })).json()) as FormView;
    const { locale, ...messages } = view.messages;
    expect(locale).to.equal('en-XA');
    expect(englishValues({ ...messages, ...view.texts, ...view.consent })).to.deep.equal([]);
    const { token } = (await post(`${path}/start`)) as { token: string };
    const refused = (await post(`${path}/submit`, { token, submission_id: randomUUID(), values: {} })) as Failure;
    expect(refused.data.params).to.have.keys('svc:consent').and.satisfy(isPseudo);
    const expired = (await post(`${path}/submit`, { submission_id: randomUUID(), values: {} })) as Failure;
    expect(expired.message).to.match(/^⟦.*⟧$/);
    const page = await host.fetch(`${path}/submit`, {
      method: 'POST',
      headers: { accept: 'text/html', 'content-type': 'application/json', ...shop },
      body: JSON.stringify({ token, submission_id: randomUUID(), values: {}, consent: '1' }),
    });
    expect(englishTexts(await page.text())).to.deep.equal([]);
  });

  it('shows no English text of a chatbot: labels, refusals and errors', async () => {
    const { id } = await createItem('bot', {
      name: '1',
      status: 'active',
      consent: { required: true },
      embed: { enabled: true, any_site: true },
    });
    const path = `/wp-json/svc-widget/v1/bots/${String(id)}`;
    const { token, bot } = (await post(`${path}/start`)) as { token: string; bot: Record<string, unknown> };
    expect(englishValues({ ...(bot['texts'] as object), greeting: bot['greeting'] })).to.deep.equal([]);
    const message = { token, conversation: null, message_id: randomUUID(), text: '5' };
    expect(((await post(`${path}/messages`, message)) as Failure).message).to.match(/^⟦.*⟧$/);
    expect(((await post(`${path}/messages`, { ...message, token: '' })) as Failure).message).to.match(/^⟦.*⟧$/);
  });

  it('refuses and asks in it, on pages and to scripts', async () => {
    const json = { accept: 'application/json' };
    const textOf = ({ html }: { readonly html: string }): string =>
      (JSON.parse(html) as { notice: { text: string } }).notice.text;
    await host.content.posts.create({ title: '6', content: '<p>4</p>', status: 'draft', authorId: 1 });
    const [, nonce = ''] =
      /bulk"[^]*?name="_nonce" value="([^"]+)"/.exec((await browser.get('/admin/posts')).html) ?? [];
    const refusals = [
      await createBrowser(host).post('/admin/posts?action=bulk', {}, json),
      await browser.post('/admin/missing', {}, json),
      await browser.post('/admin/posts?action=bulk', {}, json),
      await browser.post('/admin/posts?action=missing', { _nonce: nonce }, json),
      await browser.post('/admin/logout', {}, json),
    ];
    for (const refusal of refusals) expect(textOf(refusal)).to.match(/^⟦.*⟧$/);
    for (const path of ['login/passkey', 'login/verify', 'login/confirm']) {
      const { html } = await createBrowser(host).post(`/admin/${path}/options`, {});
      expect((JSON.parse(html) as Failure).message ?? '⟦⟧', path).to.match(/^⟦.*⟧$/);
    }
    const question = '⟦1?⟧ ⟦2⟧';
    const { html } = await browser.post('/admin/posts?action=bulk', { _nonce: nonce, _question: question });
    expect(html).to.include('⟦Çòñtìñùè⟧');
    expect(englishTexts(html)).to.deep.equal([]);
  });

  it('shows no English notice or error of a field after an action, on the page and to scripts', async () => {
    const { id } = await createItem('bot', { name: '2' });
    await host.content.posts.create({ title: '3', content: '<p>4</p>', status: 'draft', authorId: 1 });
    const actions: readonly (readonly [page: string, action: string, fields?: Record<string, string>])[] = [
      ['/admin/', 'hide-steps'],
      ['/admin/profile', 'save', { email: 'x' }],
      ['/admin/profile', 'password', { password: '1' }],
      ['/admin/posts', 'bulk'],
      ['/admin/terms/category', 'save', { name: '' }],
      ['/admin/svc/content', 'review'],
      ['/admin/svc/content', 'save-template'],
      ['/admin/svc/images', 'draw'],
      ['/admin/svc/bots', 'import', { content: '1' }],
      ['/admin/svc/bots', 'switch'],
      ['/admin/svc/ai-forms', 'import', { content: '' }],
      ['/admin/svc/webhooks', 'save-secret', { secret: '' }],
      ['/admin/svc/webhooks', 'set-enabled', { enabled: '1' }],
      ['/admin/sandbox', 'reset'],
    ];
    const found: Record<string, string[]> = {};
    for (const [page, action, fields] of actions) {
      const { html } = await browser.submit(page, action, fields);
      expect(html, `${page} ${action}`).to.match(/class="(notice-text|field-error|errors)/);
      const texts = englishTexts(html).filter((text) => !data.has(text));
      if (texts.length > 0) found[`${page} ${action}`] = texts;
    }
    expect(found).to.deep.equal({});
    expect(englishTexts((await browser.get(`/admin/svc/bots/edit?id=${String(id)}`)).html)).to.deep.equal([]);
    const nonce = /bulk"[^]*?name="_nonce" value="([^"]+)"/.exec((await browser.get('/admin/posts')).html)?.[1] ?? '';
    const { html } = await browser.post('/admin/posts?action=bulk', { _nonce: nonce }, { accept: 'application/json' });
    expect((JSON.parse(html) as { notice: { text: string } }).notice.text).to.match(/^⟦.*⟧$/);
  });
});

function linksOf(html: string, root: string): string[] {
  return [...html.matchAll(new RegExp(`href="(/${root}/[^"#]*)"`, 'g'))]
    .map(([, href = '']) => href.replaceAll('&amp;', '&').replaceAll('&#x3D;', '='))
    .filter((href) => !/log(in|out)/.test(href));
}
