import { expect } from 'chai';
import type { SiteHealthTest } from '#plugin-api';
import { createHooks } from '../../host/hooks/hooks.ts';
import { createSiteHealth } from '../../host/site-health/site-health.ts';
import { createSiteHealthPage } from '../../host/site-health/site-health-page.ts';
import { siteTests } from '../../host/site-health/site-tests.ts';
import type { UndeclaredProxy } from '../../host/http/undeclared-proxy.ts';
import { silentLog } from '../helpers/silent-log.ts';

const clock = { now: () => 0 };

function open({
  siteUrl = 'https://site.test',
  answer = () => new Response('ok'),
  proxy = null,
}: {
  readonly siteUrl?: string;
  readonly answer?: () => Response;
  readonly proxy?: UndeclaredProxy | null;
} = {}) {
  const hooks = createHooks({ log: silentLog });
  const siteHealth = createSiteHealth({
    hooks,
    log: silentLog,
    clock: { after: () => () => undefined },
    tests: siteTests({
      siteUrl: () => siteUrl,
      mayChangeFiles: () => false,
      ping: async () => undefined,
      undeclaredProxy: async () => proxy,
      clock,
      fetch: async () => answer(),
    }),
    pluginHealth: async () => [
      { slug: 'shop', results: [{ status: 'recommended', label: 'No stock', description: 'Order <more>.' }] },
    ],
    sections: async () => ({ site: { label: 'Site', fields: { ok: { label: 'Works', value: true } } } }),
  });
  return { hooks, siteHealth };
}

describe('Site Health', () => {
  it('runs the tests of the host and of plugins, the worst results first, and lets plugins change them', async () => {
    const { hooks, siteHealth } = open();
    const broken: SiteHealthTest = {
      label: 'Broken',
      test: () => {
        throw new Error('no');
      },
    };
    hooks.addFilter('site_status_tests', ({ page_cache: _page, ...tests }) => ({ ...tests, broken }));
    hooks.addFilter('site_status_test_result', (result) => ({ ...result, actions: 'seen' }));
    hooks.addFilter('debug_information', (sections) => ({ ...sections, shop: { label: 'Shop', fields: {} } }));
    const results = await siteHealth.runAll({ headers: { authorization: 'Basic eDp5' } });
    expect(results.map(({ test, status }) => [test, status])).to.deep.equal([
      ['broken', 'critical'],
      ['plugin_shop', 'recommended'],
      ['background_updates', 'good'],
      ['loopback_requests', 'good'],
      ['https_status', 'good'],
      ['dotorg_communication', 'good'],
      ['authorization_header', 'good'],
      ['proxy', 'good'],
      ['database', 'good'],
    ]);
    expect(results[1]?.description).to.equal('<p>Order &lt;more&gt;.</p>');
    expect(results.at(-1)?.actions).to.equal('seen');
    expect(Object.keys(await siteHealth.information())).to.deep.equal(['site', 'shop']);
    const page = createSiteHealthPage({
      siteHealth,
      views: { safe: (html) => html },
      sanitizeHtml: async (html) => html,
    });
    const { data } = await page.render({ headers: {}, query: { results: '1' } } as never);
    expect(data).to.deep.include({ openCount: 3, isPending: false });
  });

  it('shows its page before the tests run, which request the site itself', async () => {
    let requests = 0;
    const { siteHealth } = open({ answer: () => new Response(String((requests += 1))) });
    const page = createSiteHealthPage({ siteHealth, views: { safe: String }, sanitizeHtml: async (html) => html });
    const { data } = await page.render({ headers: {}, query: {} } as never);
    expect(data).to.deep.include({ isPending: true, passed: [] });
    expect(data).to.have.nested.property('sections[0].label', 'Site');
    expect(requests).to.equal(0);
    await page.render({ headers: {}, query: { results: '1' } } as never);
    expect(requests).to.equal(4);
  });

  it('names a proxy that the site does not know, and what to set', async () => {
    const proxy = { address: '10.0.0.5', header: 'x-forwarded-for', seenAt: '2026-01-01T00:00:00.000Z' };
    const results = await open({ proxy }).siteHealth.runAll({ headers: {} });
    const found = results.find(({ test }) => test === 'proxy');
    expect([found?.status, found?.description, found?.actions]).to.satisfy(
      ([status, description, actions]: readonly string[]) =>
        status === 'critical' && description!.includes('10.0.0.5') && actions!.includes('TRUST_PROXY'),
    );
  });

  it('says what is wrong with the address of a site', async () => {
    const unreachable = () => {
      throw new Error('refused');
    };
    for (const [siteUrl, https] of [
      ['http://site.test', 'critical'],
      ['http://localhost:8080', 'recommended'],
    ] as const) {
      const { siteHealth } = open({ siteUrl, answer: unreachable });
      const statusOf = async (name: string, headers = {}) => (await siteHealth.run(name, { headers }))?.status;
      expect(await statusOf('https_status')).to.equal(https);
      expect(await statusOf('loopback_requests')).to.equal('recommended');
      expect(await statusOf('page_cache')).to.equal('recommended');
      expect(await statusOf('authorization_header', { authorization: 'Basic' })).to.equal('recommended');
      expect(await statusOf('unknown')).to.equal(undefined);
    }
  });
});
