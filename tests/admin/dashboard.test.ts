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

  it('shows the REST root, next steps and recent failures', async () => {
    host.hooks.addFilter('admin_next_steps', (steps) => [...steps, { text: 'Save a key <now>', href: 'svc' }]);
    host.hooks.addFilter('admin_recent_failures', (failures) => [
      { source: 'Queue', text: 'Receiver gone.' },
      ...failures,
    ]);
    const { text } = await browser.get('/admin/');
    expect(text)
      .to.contain(`<code data-copy-source>${host.url}/wp-json/</code>`)
      .and.contain('<a href="/admin/svc">Save a key &lt;now&gt;</a>');
    expect(text.indexOf('Receiver gone.')).to.be.within(1, text.indexOf('no &lt;such&gt; thing'));
  });

  it('stands when a filter of a plugin fails', async () => {
    host.hooks.addFilter('admin_next_steps', () => {
      throw new Error('broken filter');
    });
    host.hooks.addFilter('admin_recent_failures', () => null as never);
    const { status, text } = await browser.get('/admin/');
    expect(status).to.equal(200);
    expect(text).to.contain('no &lt;such&gt; thing').and.not.contain('broken filter');
  });

  it('shows other users nothing of plugins, failures and states of the site', async () => {
    host.admin.api.addBadge(async () => ({ text: 'BUDGET USED UP', kind: 'warning' }));
    expect((await browser.get('/admin/')).text).to.contain('BUDGET USED UP');
    const { status, text } = await (await host.signedIn('reader')).get('/admin/');
    expect(status).to.equal(200);
    for (const secret of ['Next steps', 'Manage plugins', 'Plugin good', '1.2.3', 'Recent failures', 'thing', 'BUDGET'])
      expect(text).not.to.contain(secret);
  });
});

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
