import { expect } from 'chai';
import { describeHosts } from '../helpers/dialects.ts';
import { openPages, type AdminBrowser, type PagesSite } from '../pages/pages-site.ts';

const roles = ['editor', 'author', 'contributor', 'subscriber'] as const;

describeHosts('the pages of the admin', (dialectCase) => {
  let site: PagesSite;
  let admin: AdminBrowser;
  /** Every page in the menu of an administrator of a site with all plugins, and those below them. */
  let pages: readonly string[];

  beforeEach(async () => {
    site = await openPages(dialectCase, {}, { plugins: 'found' });
    await site.create({ login: 'root', role: 'administrator' });
    for (const role of roles) await site.create({ login: role, role });
    admin = await site.signIn('root');
    const { html } = await admin.get('/admin/');
    const menu = [...html.matchAll(/href="(\/admin\/[\w/-]*)"/g)].map(([, path = '']) => path);
    const further = ['users/new', 'users/edit', 'users/delete', 'tools/cron', 'tools/hooks', 'svc/webhooks/endpoint'];
    pages = [...new Set([...menu, ...further.map((slug) => `/admin/${slug}`)])].filter(
      (path) => !/login|logout|setup/.test(path),
    );
  });
  afterEach(() => site.host.stop());

  it('answer an action with the same refusal as the page itself, for every role', async () => {
    expect(pages.length).to.be.greaterThan(15);
    for (const role of roles) {
      const browser = await site.signIn(role);
      for (const page of pages) {
        const { status } = await browser.get(page);
        if (status !== 403) continue;
        for (const action of ['save', 'delete', 'generate-key', 'install', 'password'])
          expect((await browser.post(`${page}?action=${action}`, {})).status, `${role} ${page} ${action}`).to.equal(
            403,
          );
      }
    }
  });

  it('are closed to subscribers, but for the home page, their alerts, the search and their profile', async () => {
    const browser = await site.signIn('subscriber');
    const open = [];
    for (const page of pages) if ((await browser.get(page)).status !== 403) open.push(page);
    expect(open.sort()).to.deep.equal(['/admin/', '/admin/alerts', '/admin/profile', '/admin/search']);
  });

  it('send visitors to the sign-in', async () => {
    for (const page of pages) {
      const { status, headers } = await site.host.fetch(page, { redirect: 'manual' });
      expect([status, headers.get('location')?.startsWith('/admin/login')], page).to.deep.equal([302, true]);
    }
  });

  it('refuse every action without the nonce of the page', async () => {
    const profile = /name="_nonce" value="([^"]+)"/.exec((await admin.get('/admin/profile')).html)?.[1] ?? '';
    const variants: Record<string, string>[] = [{}, { _nonce: '' }, { _nonce: 'abcdefghij' }, { '_nonce[]': profile }];
    for (const page of pages)
      for (const fields of page === '/admin/profile' ? variants : [...variants, { _nonce: profile }])
        expect((await admin.post(`${page}?action=save`, fields)).status, `${page} ${JSON.stringify(fields)}`).to.equal(
          403,
        );
  });
});
