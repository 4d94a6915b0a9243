import { expect } from 'chai';
import { createTestHost, type TestHost } from '#testing';
import { createBrowser, password, type AdminBrowser } from '../pages/pages-site.ts';
import { englishTexts } from './english-texts.ts';

/** Data: names of plugins, of a category, and of the program that reads the pages. */
const data: ReadonlySet<string> = new Set([
  'Uncategorized',
  'Hello',
  'Orders',
  'Sandbox',
  'svc AI service',
  'node',
  'host',
  'svc',
  'sandbox',
]);
const perPath = 4;

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

  /** The texts that bypass translation, by page. Follows the links from page to page. */
  async function crawl(start: string): Promise<{ readonly pages: number; readonly found: Record<string, string[]> }> {
    const addresses = new Set([start]);
    const found: Record<string, string[]> = {};
    const root = start.split('/')[1] ?? '';
    for (const address of addresses) {
      const { html, status } = await browser.get(address);
      expect(status, address).to.equal(200);
      for (const link of linksOf(html, root)) {
        const path = link.split('?')[0];
        if ([...addresses].filter((known) => known.split('?')[0] === path).length < perPath) addresses.add(link);
      }
      const texts = englishTexts(html).filter((text) => !data.has(text));
      if (texts.length > 0) found[address] = texts;
    }
    return { pages: addresses.size, found };
  }

  it('shows no English text on any page of the admin', async function () {
    this.timeout(60_000);
    const { pages, found } = await crawl('/admin/');
    expect(found).to.deep.equal({});
    expect(pages).to.be.above(45);
  });

  it('shows no English text on pages for visitors', async () => {
    for (const address of ['/', '/?s=1', '/missing/', '/admin/login', '/admin/forgot-password']) {
      const { html } = await createBrowser(host).get(address);
      expect(englishTexts(html), address).to.deep.equal([]);
      expect(html, address).to.include('<html lang="en-XA"').and.include('⟦');
    }
  });

  it('shows German to a user who has chosen it, with counts and dates', async () => {
    const [user] = await host.users.list({ search: '1' });
    await host.users.update(Number(user?.id), { profile: { locale: 'de_DE' } });
    try {
      const { html } = await browser.get('/admin/users');
      expect(html).to.include('<html lang="de-DE"').and.include('1 Benutzer').and.not.include('⟦');
      expect((await browser.get('/admin/svc/bots')).html).to.include('Ein Chatbot für Ihre Website mit einem Klick');
    } finally {
      await host.users.update(Number(user?.id), { profile: { locale: '' } });
    }
  });

  it('shows the language that a user has chosen', async () => {
    const [user] = await host.users.list({ search: '1' });
    await host.users.update(Number(user?.id), { profile: { locale: 'en_US' } });
    try {
      expect((await browser.get('/admin/users')).html)
        .to.include('<html lang="en-GB"')
        .and.not.include('⟦');
    } finally {
      await host.users.update(Number(user?.id), { profile: { locale: '' } });
    }
  });
});

function linksOf(html: string, root: string): string[] {
  return [...html.matchAll(new RegExp(`href="(/${root}/[^"#]*)"`, 'g'))]
    .map(([, href = '']) => href.replaceAll('&amp;', '&').replaceAll('&#x3D;', '='))
    .filter((href) => !/log(in|out)/.test(href));
}
