import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createTestHost, type TestHost } from '#testing';
import { createBrowser, password, type AdminBrowser } from '../pages/pages-site.ts';

/** Addresses of version 1.0.0 before the menu had groups; people have bookmarks of them. */
const former = [
  ...['', 'posts', 'posts/new', 'posts/edit?id=1', 'pages', 'pages/new', 'media', 'plugins', 'profile', 'settings'],
  ...['rest', 'sandbox', 'tools', 'tools/backup', 'tools/cron', 'tools/hooks', 'users', 'users/new', 'users/edit?id=1'],
  ...['users/delete?id=2', 'svc', 'svc/bots', 'svc/bots/new', 'svc/bots/edit?id=1', 'svc/bots/rules?bot=1'],
  ...['svc/bots/rule?bot=1', 'svc/bots/forms?bot=1', 'svc/bots/form?bot=1', 'svc/logs', 'svc/conversation'],
  ...[
    'svc/personal-data',
    'svc/submissions',
    'svc/check-site',
    'svc/content',
    'svc/content/runs',
    'svc/content/template',
  ],
  ...['svc/content/templates', 'svc/tasks', 'svc/tasks/edit', 'svc/tasks/task?id=1', 'svc/ai-forms'],
  ...['svc/ai-forms/edit?id=1', 'svc/ai-forms/submissions', 'svc/images', 'svc/images/edit', 'svc/images/visitors'],
  ...['svc/knowledge', 'svc/knowledge/questions', 'svc/vector-stores', 'svc/webhooks', 'svc/webhooks/endpoint'],
  ...['svc/deliveries', 'svc/deliveries/why-not', 'svc/deliveries/inbox', 'svc/usage', 'svc/budgets', 'svc/failover'],
  'svc/prices',
];

describe('a site that people knew before', () => {
  let host: TestHost;
  let folder: string;
  let browser: AdminBrowser;
  before(async () => {
    // A site in memory has no page for backups.
    folder = await mkdtemp(join(tmpdir(), 'former-'));
    host = await createTestHost({ plugins: ['svc', 'sandbox'], database: folder });
    for (const [login, role] of [
      ['ada', 'administrator'],
      ['grace', 'subscriber'],
    ] as const)
      await host.users.create({ login, email: `${login}@example.com`, password, role });
    browser = createBrowser(host);
    await browser.post('/admin/login', { login: 'ada', password });
    await run('svc', 'sandbox', 'on');
    await run('svc', 'bot', 'create', '--json', JSON.stringify({ name: 'Shop' }));
    await run('svc', 'form', 'create', '--json', JSON.stringify({ name: 'Slogan', prompt: '1' }));
    const task = { name: 'Notes', type: 'content_writing', source: { kind: 'list', items: ['tea'] } };
    await run('svc', 'task', 'create', '--json', JSON.stringify(task));
    await host.content.posts.create({ title: 'Tea', content: '', status: 'publish', authorId: 1 });
  });
  after(async () => {
    await host.stop();
    await rm(folder, { recursive: true });
  });

  async function run(...argv: string[]): Promise<unknown> {
    const { code, out, err } = await host.cli(...argv, ...(argv.includes('--json') ? [] : ['--json']));
    expect(code, err).to.equal(0);
    return JSON.parse(out || 'null');
  }

  it('has a page at each former address', async () => {
    const missing: Record<string, number> = {};
    for (const path of former) {
      const { status, location } = await browser.get(`/admin/${path}`);
      const led = status >= 300 && status < 400 ? (await browser.get(location ?? '')).status : status;
      if (led !== 200) missing[path] = led;
    }
    expect(missing).to.deep.equal({});
  });

  it('marks the chat logs in the menu for a conversation and for personal data', async () => {
    const { key } = (await run('svc', 'key', 'generate')) as { key: string };
    const conversation = randomUUID();
    await host.fetch('/wp-json/svc/v1/chat/1/message', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ conversation_uuid: conversation, messages: [{ role: 'user', content: 'Hello' }] }),
    });
    for (const path of [`svc/conversation?conversation=${conversation}`, 'svc/personal-data'])
      expect((await browser.get(`/admin/${path}`)).html, path).to.match(
        /href="\/admin\/svc\/logs"\s+aria-current="\w+"/,
      );
  });

  it('shows visitors and subscribers no state of the sandbox and of budgets', async () => {
    const budget = { id: 'all', name: 'All', scope: 'all', period: 'month', unit: 'calls', amount: 1 };
    await run('svc', 'budget', 'set', '--json', JSON.stringify(budget));
    const badges = /class="badge[^>]*>(Sandbox|Budget (nearly )?used up)/i;
    expect((await browser.get('/admin/')).html).to.match(badges);
    const subscriber = createBrowser(host);
    await subscriber.post('/admin/login', { login: 'grace', password });
    for (const [who, path] of [
      [createBrowser(host), '/'],
      [createBrowser(host), '/tea/'],
      [subscriber, '/'],
      [subscriber, '/admin/'],
    ] as const)
      expect((await who.get(path)).html, path).not.to.match(badges);
  });

  it('warns where an endpoint is saved that receives no event', async () => {
    const { text } = await browser.submit('/admin/svc/webhooks/endpoint', 'save', {
      name: 'Test',
      url: 'https://example.com/hook',
    });
    expect(text).to.match(/Test saved\. [A-Z].*event/);
  });

  it('asks before the sandbox is turned off without a provider, and changes nothing until then', async () => {
    const { text } = await browser.submit('/admin/svc', 'set-sandbox', { sandbox: '' });
    expect(text).to.contain('No provider is connected').and.contain('Shop');
  });
});
