import { expect } from 'chai';

import type { PluginSummary } from '../../host/admin/dependencies.ts';
import { openAdmin, type Browser, type OpenAdmin } from './open-admin.ts';

function plugin(slug: string, more: Partial<PluginSummary>): PluginSummary {
  return {
    slug,
    name: `Plugin ${slug}`,
    version: '1.2.3',
    description: `About ${slug}.`,
    state: 'inactive',
    requires: {},
    ...more,
  };
}

describe('dashboard and plugins page', () => {
  let host: OpenAdmin;
  let browser: Browser;
  beforeEach(async () => {
    host = await openAdmin();
    browser = await host.signedIn();
    host.plugins.set('good', plugin('good', { state: 'active' }));
    host.plugins.set('idle', plugin('idle', { requires: { good: '^1' } }));
    host.plugins.set(
      'bad',
      plugin('bad', {
        state: 'failed',
        failure: { stage: 'register', message: 'no <such> thing', at: Date.UTC(2026, 0, 2, 3, 4) },
      }),
    );
  });
  afterEach(() => host.close());

  const turn = async (action: string, slug: string, headers = {}): ReturnType<Browser['post']> => {
    const nonce = (await browser.get('/admin/plugins')).nonce(`/admin/plugins?action&#x3D;${action}`);
    return browser.post(`/admin/plugins?action=${action}`, { slug, _nonce: nonce }, headers);
  };

  it('lists each plugin with version, needs and state, and the failed one with stage and reason', async () => {
    const { text } = await browser.get('/admin/plugins');
    expect(text).to.contain('Plugin good').and.contain('1.2.3').and.contain('Requires good ^1');
    expect(text)
      .to.contain('Disabled after an error (register).')
      .and.contain('no &lt;such&gt; thing')
      .and.contain('2 Jan 2026, 03:04');
  });

  it('switches a plugin on and off', async () => {
    expect((await turn('activate', 'idle')).status).to.equal(303);
    expect((await browser.get('/admin/plugins')).text).to.contain('Plugin idle activated.');
    expect(host.plugins.get('idle')?.state).to.equal('active');
    await turn('deactivate', 'good');
    expect(host.plugins.get('good')?.state).to.equal('inactive');
  });

  it('tells why a plugin cannot be switched on', async () => {
    const answer = await turn('activate', 'bad', { Accept: 'application/json' });
    expect(answer.status).to.equal(400);
    expect(answer.json()).to.deep.include({
      code: 'rest_plugin_activate_failed',
      notice: { kind: 'error', text: 'Plugin bad: no <such> thing' },
    });
    expect((await turn('activate', 'nothing', { Accept: 'application/json' })).status).to.equal(404);
  });

  it('keeps the plugins page from users who may not activate plugins', async () => {
    expect((await (await host.signedIn('reader')).get('/admin/plugins')).status).to.equal(403);
  });

  it('shows what needs attention, open steps and the REST root', async () => {
    host.hooks.addFilter('admin_next_steps', (steps) => [
      ...steps,
      { text: 'Save a key <now>', href: 'svc' },
      { text: 'Rest', done: true },
    ]);
    host.hooks.addFilter('admin_recent_failures', (failures) => [
      { source: 'Queue', text: 'Receiver gone.' },
      ...failures,
    ]);
    host.hooks.addFilter('admin_home', (home) => ({
      ...home,
      alerts: [...home.alerts, { kind: 'warning', text: '2 <questions> wait', href: 'svc/q?x=1', label: 'Answer' }],
    }));
    const { text } = await browser.get('/admin/');
    expect(text)
      .to.contain(`<code data-copy-source>${host.url}/wp-json/</code>`)
      .and.contain('<a href="/admin/svc">Save a key &lt;now&gt;</a>')
      .and.contain('1 of 2 steps done')
      .and.contain('2 &lt;questions&gt; wait')
      .and.contain('href="/admin/svc/q?x&#x3D;1">Answer');
    expect(text.indexOf('Receiver gone.')).to.be.within(1, text.indexOf('no &lt;such&gt; thing'));
  });

  it('lists and counts the alerts for the bell, which every page has', async () => {
    host.hooks.addFilter('admin_alerts', (alerts, user) =>
      user.can('manage_options') ? [...alerts, { kind: 'warning', text: 'Stock is <low>', href: 'shop?x=1' }] : alerts,
    );
    const { text } = await browser.get('/admin/plugins');
    expect(text).to.contain('href="/admin/alerts"').and.contain('data-alerts="/admin/alert-count"');
    expect((await browser.get('/admin/alert-count')).json()).to.deep.equal({ count: 2 });
    for (const path of ['/admin/alerts', '/admin/'])
      expect((await browser.get(path)).text)
        .to.contain('no &lt;such&gt; thing')
        .and.contain('Stock is &lt;low&gt;')
        .and.contain('href="/admin/shop?x&#x3D;1"');
    const reader = await host.signedIn('reader');
    expect((await reader.get('/admin/alert-count')).json()).to.deep.equal({ count: 0 });
    expect((await reader.get('/admin/alerts')).text)
      .to.contain('Nothing needs attention')
      .and.not.contain('Stock');
    expect((await host.browser().get('/admin/alert-count', { Accept: 'application/json' })).status).to.equal(401);
  });

  it('shows figures of the chosen period with their change, health and lists of plugins', async () => {
    const asked: unknown[] = [];
    host.hooks.addFilter('admin_home', (home, { user, days }) => {
      asked.push([user.login, days]);
      return {
        ...home,
        tiles: [
          {
            label: 'Orders',
            value: '12',
            href: 'shop',
            change: { now: 12, before: 8 },
            points: [0, 4, 8],
            note: 'paid',
          },
          { label: 'Returns', value: '0', change: { now: 0, before: 0 }, points: [0, 0] },
          { label: 'Stock', value: '5', change: { now: 1, before: 4 } },
          { label: 'Guests', value: '3', change: { now: 3, before: 3 } },
        ],
        health: [{ label: 'Courier', state: 'warning', note: '2 of 9 calls failed' }],
        lists: [
          { title: 'Latest orders', items: [{ title: 'No. 7', href: 'shop/7', note: 'Ada' }], href: 'shop', empty: '' },
          { title: 'Open returns', items: [], empty: 'No returns.' },
        ],
      };
    });
    const { text } = await browser.get('/admin/?days=30');
    await browser.get('/admin/?days=365');
    expect(asked).to.deep.equal([
      ['admin', 30],
      ['admin', 7],
    ]);
    const plain = text.replace(/<[^<>]+>/g, ' ').replace(/\s+/g, ' ');
    expect(plain)
      .to.contain('Orders 12 +50% · paid')
      .and.contain('Stock 5 −75%')
      .and.contain('Guests 3 as before')
      .and.contain('Courier Some errors, 2 of 9 calls failed')
      .and.contain('Latest orders No. 7 Ada Show all')
      .and.contain('No returns.');
    expect(text.match(/<polyline\s+points="[^"]+"/g)).to.deep.equal([
      '<polyline\n          points="2.0,30.0 60.0,16.0 118.0,2.0"',
    ]);
    expect(text)
      .to.contain('href="?days&#x3D;30" aria-current="page"')
      .and.contain('<a href="/admin/shop/7">No. 7</a>');
  });

  it('shows no steps once all are done', async () => {
    host.hooks.addFilter('admin_next_steps', () => [{ text: 'Rest', done: true }]);
    expect((await browser.get('/admin/')).text).not.to.contain('Get started');
  });

  it('hides the first steps for the user who asks, and brings them back', async () => {
    host.hooks.addFilter('admin_next_steps', () => [{ text: 'Save a key' }, { text: 'Rest', done: true }]);
    const post = async (action: string, from = browser) => {
      const nonce = (await from.get('/admin/')).nonce(`/admin/?action&#x3D;${action}`);
      return from.post(`/admin/?action=${action}`, { _nonce: nonce });
    };
    expect(await post('hide-steps')).to.include({ status: 303, location: '/admin/' });
    const { text } = await browser.get('/admin/');
    expect(text).not.to.contain('Get started').and.not.to.contain('Save a key');
    expect(text).to.contain('First steps hidden.').and.contain('First steps: 1 of 2 done.').and.contain('Undo');
    expect((await post('show-steps')).status).to.equal(303);
    expect((await browser.get('/admin/')).text)
      .to.contain('Save a key')
      .and.contain('Hide these steps');
    const reader = await host.signedIn('reader');
    const token = reader.cookies.get('svc_session') ?? '';
    const refused = await reader.post(
      '/admin/?action=hide-steps',
      { _nonce: host.pageNonce('', token) },
      { Accept: 'application/json' },
    );
    expect(refused.status).to.equal(403);
  });

  it('stands when a filter of a plugin fails', async () => {
    host.hooks.addFilter('admin_next_steps', () => {
      throw new Error('broken filter');
    });
    host.hooks.addFilter('admin_recent_failures', () => null as never);
    const undo = host.hooks.addFilter('admin_home', () => null as never);
    expect((await browser.get('/admin/')).status).to.equal(200);
    undo();
    host.hooks.addFilter('admin_home', () => {
      throw new Error('broken home');
    });
    const { status, text } = await browser.get('/admin/');
    expect(status).to.equal(200);
    expect(text).to.contain('no &lt;such&gt; thing').and.not.contain('broken');
    expect(host.logged.map(({ fields }) => (fields as { event?: string }).event)).to.include('dashboard_filter_failed');
  });

  it('shows other users nothing of plugins, failures and states of the site', async () => {
    host.admin.api.addBadge(async () => ({ text: 'BUDGET USED UP', kind: 'warning' }));
    expect((await browser.get('/admin/')).text).to.contain('BUDGET USED UP');
    const { status, text } = await (await host.signedIn('reader')).get('/admin/');
    expect(status).to.equal(200);
    expect(text).to.contain('Edit your profile');
    for (const secret of [
      'Get started',
      'Manage plugins',
      'Plugin good',
      '1.2.3',
      'Needs attention',
      'thing',
      'BUDGET',
    ])
      expect(text).not.to.contain(secret);
  });

  it('finds what a title begins with first, then its words, and no page by a part of its group', async () => {
    for (const [slug, title] of Object.entries({
      posts: 'Posts',
      writer: 'Content writer',
      tents: 'Tents',
      own: 'My own',
    }))
      host.admin.api.addPage({ slug, title, menu: title, group: 'content', render });
    host.hooks.addFilter('admin_search', (results) => [
      ...results,
      { title: 'Under the stars', note: 'Post', href: 'posts/edit?id=1' },
      { title: 'How to choose a two-person tent', note: 'Post', href: 'posts/edit?id=2' },
    ]);
    const titles = async (query: string) =>
      (
        (await browser.get(`/admin/search-results?q=${query}`)).json() as { results: readonly { title: string }[] }
      ).results.map(({ title }) => title);
    expect(await titles('tent')).to.deep.equal([
      'Tents',
      'How to choose a two-person tent',
      'Content writer',
      'Under the stars',
    ]);
    expect((await titles('cont')).slice(0, 2)).to.deep.equal(['Content writer', 'Posts']);
  });

  it('finds pages of the menu by every word, and what plugins find, as a page and for scripts', async () => {
    host.admin.api.addPage({
      slug: 'hidden',
      title: 'Hidden',
      menu: 'Hidden',
      group: 'system',
      capability: 'fly',
      render,
    });
    host.admin.api.addPage({ slug: 'mail', title: 'Mail', menu: 'Mail', group: 'system', render });
    host.hooks.addFilter('admin_search', (results, { query, user }) => [
      ...results,
      { title: `<b>${query}`, note: user.login, href: 'svc/bots?id=1' },
    ]);
    const { text } = await browser.get('/admin/search?q=system+mail');
    expect(text).to.match(/>System<\/h2> <span[^>]*>1 result<\/span>.*<a href="\/admin\/mail">Mail<\/a>/s);
    expect(text).to.contain('<a href="/admin/svc/bots?id&#x3D;1">&lt;b&gt;system mail</a>');
    const found = await browser.get('/admin/search-results?q=mail');
    expect(found.json()).to.deep.equal({
      results: [
        { title: 'Mail', note: 'System', href: '/admin/mail' },
        { title: '<b>mail', note: 'admin', href: '/admin/svc/bots?id=1' },
      ],
    });
    const all = (await browser.get('/admin/search-results?q=')).json() as { results: { title: string }[] };
    expect(all.results.map(({ title }) => title)).to.deep.equal(['Home', 'Mail', 'Plugins']);
    const visitor = await host.browser().get('/admin/search-results?q=mail', { Accept: 'application/json' });
    expect(visitor.status).to.equal(401);
    host.hooks.addFilter('admin_search', () => {
      throw new Error('broken search');
    });
    expect((await browser.get('/admin/search-results?q=mail')).text)
      .to.contain('"Mail"')
      .and.not.contain('broken');
  });
});

const render = async () => ({ template: 'probe/page' });

describe('public site', () => {
  let host: OpenAdmin;
  before(async () => {
    host = await openAdmin();
    host.plugins.set('good', plugin('good', { state: 'active' }));
    host.plugins.set('idle', plugin('idle', {}));
    host.admin.api.addBadge(async () => ({ text: 'SANDBOX', kind: 'warning' }));
  });
  after(() => host.close());

  it('names the site, the admin and the REST index, and nothing of plugins', async () => {
    const { status, text } = await host.browser().get('/');
    expect(status).to.equal(200);
    expect(text).to.contain('<h1>Tea &amp; &lt;b&gt;biscuits&lt;/b&gt;</h1>').and.not.contain('Plugin');
    expect(text).to.contain('href="/admin/"').and.contain(`href="${host.url}/wp-json/"`).and.not.contain('SANDBOX');
  });

  it('answers an unknown address with a page of its own', async () => {
    const { status, text } = await host.browser().get('/nothing');
    expect(status).to.equal(404);
    expect(text).to.contain('Page not found');
  });
});
