import { expect } from 'chai';
import { listView, readList } from '#plugin-api';
import { createSavedViews } from '../../host/admin/saved-views.ts';
import { describeHosts } from '../helpers/dialects.ts';
import { openPages, type PagesSite } from '../pages/pages-site.ts';
import { openAdmin, type Browser, type OpenAdmin } from './open-admin.ts';

const save = '/admin/probe?action=admin%3Asave-view';
const remove = '/admin/probe?action=admin%3Adelete-view';

describe('saved views of a list', () => {
  let host: OpenAdmin;
  let browser: Browser;
  beforeEach(async () => {
    host = await openAdmin();
    browser = await host.signedIn();
    host.admin.api.addPage({
      slug: 'probe',
      title: 'Probe',
      capability: 'read',
      render: async (request) => {
        const state = readList(request, {
          sortable: ['name', 'time'],
          filters: { state: String(request.query['state'] ?? '') },
        });
        const list = listView(state, { columns: [{ label: 'Name', key: 'name' }], total: 0, text: '' });
        return { template: 'admin/list-chips', data: list };
      },
    });
  });
  afterEach(() => host.close());

  async function post(
    target: string,
    fields: Readonly<Record<string, string>>,
    by = browser,
  ): ReturnType<Browser['post']> {
    const nonce = (await by.get('/admin/probe?state=unsaved')).nonce(save.replace('=', '&#x3D;'));
    return by.post(target, { ...fields, _nonce: nonce });
  }

  it('are offered where something is chosen, and lead to filters, sorting and page size', async () => {
    expect((await browser.get('/admin/probe')).text)
      .not.to.contain('Save view')
      .and.not.to.contain('Saved views');
    const chosen = await browser.get('/admin/probe?state=open&sort=time&order=desc&per_page=50&page=3');
    expect(chosen.text).to.contain(
      'name="query" value="order&#x3D;desc&amp;per_page&#x3D;50&amp;sort&#x3D;time&amp;state&#x3D;open"',
    );
    const query = 'state=open&sort=time&order=desc&per_page=50&page=3';
    const saved = await post(save, { name: ' Open & new ', query });
    expect([saved.status, saved.location]).to.deep.equal([
      303,
      '/admin/probe?order=desc&per_page=50&sort=time&state=open',
    ]);
    const after = (await browser.get(saved.location ?? '')).text;
    expect(after)
      .to.contain('View &quot;Open &amp; new&quot; saved.')
      .and.contain('aria-current="true"><span translate="no">Open &amp; new</span>')
      .and.contain('Delete view')
      .and.not.contain('Save view');
    expect((await browser.get('/admin/probe')).text)
      .to.contain('href="?order&#x3D;desc&amp;per_page&#x3D;50&amp;sort&#x3D;time&amp;state&#x3D;open"')
      .and.not.contain('aria-current="true"><span');
  });

  it('are each user’s own, of one page', async () => {
    await post(save, { name: 'Open', query: 'state=open' });
    const reader = await host.signedIn('reader');
    expect((await reader.get('/admin/probe')).text).not.to.contain('>Open<');
    expect((await browser.get('/admin/plugins')).text).not.to.contain('>Open<');
    expect((await post(remove, { name: 'Open' }, reader)).status).to.equal(303);
    expect((await reader.get('/admin/probe')).text).to.contain('This view no longer exists.');
    expect((await browser.get('/admin/probe')).text).to.contain('>Open<');
  });

  it('are replaced by one of the same name, and deleted with an Undo', async () => {
    await post(save, { name: 'Open', query: 'state=open' });
    await post(save, { name: 'Open', query: 'state=paid' });
    const deleted = await post(remove, { name: 'Open' });
    expect(deleted.location).to.equal('/admin/probe?state=paid');
    const { text } = await browser.get(deleted.location ?? '');
    expect(text)
      .to.contain('View &quot;Open&quot; deleted.')
      .and.contain('Undo')
      .and.contain('name="query" value="state&#x3D;paid"');
    expect(text).not.to.contain('>Open<');
  });

  it('need a name, something to save, and a form of this site', async () => {
    const refusal = async (fields: Readonly<Record<string, string>>): Promise<string> => {
      await post(save, fields);
      return (await browser.get('/admin/probe')).text;
    };
    expect(await refusal({ name: ' ', query: 'state=open' })).to.contain('Enter a name of at most 40 characters');
    expect(await refusal({ name: 'x'.repeat(41), query: 'state=open' })).to.contain(
      'Enter a name of at most 40 characters',
    );
    expect(await refusal({ name: 'All', query: 'page=2&action=x' })).to.contain(
      'Set a filter, a sorting or a page size',
    );
    expect(await refusal({ name: 'Long', query: `s=${'x'.repeat(1_000)}` })).to.contain('too long to be saved');
    expect((await browser.post(save, { name: 'Open', query: 'state=open', _nonce: 'wrong' })).status).to.equal(403);
    for (let number = 1; number <= 12; number += 1)
      await post(save, { name: `View ${String(number)}`, query: `s=${String(number)}` });
    expect(await refusal({ name: 'One more', query: 's=13' })).to.contain('A list has at most 12 saved views.');
  });
});

describeHosts('saved views of the lists of a site', (dialectCase) => {
  let site: PagesSite;
  beforeEach(async () => {
    site = await openPages(dialectCase);
  });
  afterEach(() => site.host.stop());

  it('are saved without JavaScript, and deleted with their user', async () => {
    const { id } = await site.create({ login: 'ada', role: 'administrator' });
    const browser = await site.signIn('ada');
    for (const page of ['users', 'posts', 'media', 'comments', 'terms/category']) {
      const saved = await browser.submit(`/admin/${page}?s=a`, 'admin%3Asave-view', { name: 'Mine', query: 's=a' });
      expect(saved.text, page).to.contain('View "Mine" saved.').and.contain('Delete view');
    }
    await site.create({ login: 'bob', role: 'administrator' });
    expect(await createSavedViews(site.host.options).list(id, 'users')).to.deep.equal([{ name: 'Mine', query: 's=a' }]);
    await site.host.users.delete(id);
    expect(await site.host.options.get(`admin_views_${String(id)}`, null)).to.equal(null);
  });

  it('lose none of those that are saved at the same time', async () => {
    const { id } = await site.create({ login: 'cleo', role: 'administrator' });
    const names = Array.from({ length: 6 }, (_, at) => `View ${String(at)}`);
    await Promise.all(
      names.map((name) =>
        createSavedViews(site.host.options).change(id, 'users', (views) => [...views, { name, query: `s=${name}` }]),
      ),
    );
    const stored = await createSavedViews(site.host.options).list(id, 'users');
    expect(stored.map(({ name }) => name).sort()).to.deep.equal(names);
  });
});
