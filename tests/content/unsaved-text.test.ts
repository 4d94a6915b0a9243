import { expect } from 'chai';
import { describeHosts } from '../helpers/dialects.ts';
import { openPages, type AdminBrowser, type PagesSite } from '../pages/pages-site.ts';

describeHosts('the form of a post', (dialectCase) => {
  let site: PagesSite;
  let browser: AdminBrowser;
  beforeEach(async () => {
    site = await openPages(dialectCase);
    await site.create({ login: 'ed', role: 'editor', displayName: 'Ed' });
    browser = await site.signIn('ed');
  });
  afterEach(() => site.host.stop());

  it('stores unsaved text apart from the post, and brings it back', async () => {
    const { posts } = site.host.content;
    const { id } = await posts.create({ title: 'Tea', content: 'Green', status: 'publish', authorId: 1 });
    const path = `/admin/posts/edit?id=${id}`;
    const send = async (page: string, fields: Record<string, string>) => {
      const { html } = await browser.get(page);
      const [, nonce = ''] = /name="_nonce" value="([^"]+)"/.exec(html.slice(html.indexOf('id="post-form"'))) ?? [];
      const address = `${page.split('?')[0] ?? ''}?action=autosave`;
      return () => browser.post(address, { ...fields, _nonce: nonce }, { accept: 'application/json' });
    };
    const autosave = async (page: string, fields: Record<string, string>) =>
      (JSON.parse((await (await send(page, fields))()).html) as { data: Record<string, unknown> }).data;
    site.host.clock.jump(60_000);
    const time = '00:01';
    const text = { id: String(id), title: 'Tea', content: 'Green tea', excerpt: '' };
    expect(await autosave(path, text)).to.deep.equal({ time, newer: null });
    expect(await autosave(path, { ...text, content: 'Green\r\n<b>tea</b>' })).to.deep.equal({ time, newer: null });
    expect((await posts.get(id))?.content).to.equal('Green');
    expect(await site.host.content.revisions.list(id)).to.have.length(1);
    const opened = await browser.get(path);
    expect(opened.text).to.contain('You have unsaved text of').and.contain('Restore').and.contain('(unsaved text)');
    expect(opened.html).to.contain('>Green</textarea>');
    const restored = await browser.get(`${path}&autosave=1`);
    expect(restored.text).to.contain('is in the form. Save to keep it.');
    expect(restored.html).to.contain('>Green\n&lt;b&gt;tea&lt;/b&gt;</textarea>');
    const other = await site.create({ login: 'bo', role: 'editor', displayName: 'Bo' });
    expect((await (await site.signIn('bo')).get(path)).text).to.not.contain('You have unsaved text');
    expect((await (await site.signIn('bo')).get(`${path}&autosave=1`)).html).to.contain('>Green</textarea>');

    await posts.update(id, { content: 'Black' }, { as: other });
    expect((await autosave(path, { ...text, version: 'older' }))['newer']).to.match(/^Bo changed this post on /);
    expect((await browser.submit(path, 'save', { ...text, status: 'publish' })).text).to.contain('Post saved.');
    expect(await site.host.content.revisions.list(id), 'equal to the post').to.satisfy((all: { slug: string }[]) =>
      all.every(({ slug }) => !slug.includes('autosave')),
    );
    site.host.clock.jump(60_000);
    await autosave(path, { ...text, content: 'Coffee' });
    expect((await browser.submit(path, 'discard', { id: String(id) })).text)
      .to.contain('Unsaved text discarded.')
      .and.not.contain('You have unsaved text');

    const fresh = '/admin/posts/new';
    expect(await autosave(fresh, { title: ' ', content: '', excerpt: '' })).to.deep.equal({ time: null, newer: null });
    const made = await autosave(fresh, { title: 'New', content: 'First' });
    expect(made['url']).to.equal(`${site.host.url}/admin/posts/edit?id=${made['id'] as number}`);
    const created = { id: String(made['id']), version: String(made['version']), title: 'New', content: 'Second' };
    await autosave(fresh, created);
    expect(await posts.get(made['id'] as number)).to.include({ status: 'draft', content: 'First' });
    expect((await browser.submit(fresh, 'save', { ...created, status: 'publish' })).text).to.contain('Post published.');
    expect(await posts.get(made['id'] as number)).to.include({ status: 'publish', content: 'Second' });
    expect(await posts.count({ status: 'any' })).to.equal(2);
    const late = await send(path, text);
    await posts.delete(id);
    expect((await late()).html).to.contain('is in the trash. Restore it first.');
  });

  it('leads to a page that compares two versions, and restores one', async () => {
    const { posts, revisions } = site.host.content;
    const { id } = await posts.create({ title: 'Tea', content: 'Green <b>tea</b>', authorId: 1 });
    const path = `/admin/posts/revisions?id=${id}`;
    expect((await browser.get(path)).text).to.contain('No revisions yet');
    const bo = await site.create({ login: 'bo', role: 'editor', displayName: 'Bo' });
    await posts.update(id, { content: 'Black <b>tea</b>' }, { as: bo });
    const compared = await browser.get(path);
    expect(compared.text)
      .to.contain('Current version of 1 Jan 2026')
      .and.contain('by Ed')
      .and.contain('Removed: Green');
    expect(compared.html)
      .to.match(/<del>.*Green.*<\/del>/s)
      .and.match(/<ins>.*Black.*<\/ins>/s)
      .and.contain('&lt;b&gt;tea');
    const [, first] = await revisions.list(id);
    expect((await browser.get(`${path}&from=${id}&to=${id}`)).text).to.contain('Both versions have the same title');
    const restored = await browser.submit(path, 'restore', { id: String(id), revision: String(first?.id) });
    expect(restored.text).to.contain('Revision restored.');
    expect((await posts.get(id))?.content).to.equal('Green <b>tea</b>');
    const other = await posts.create({ title: 'Other', content: 'x', authorId: 1 });
    const foreign = await browser.submit(path, 'restore', { id: String(other.id), revision: String(first?.id) });
    expect(foreign.status).to.equal(404);
    await site.create({ login: 'con', role: 'contributor' });
    expect((await (await site.signIn('con')).get(path)).status).to.equal(403);
  });

  it('replaces no version that is newer than it, and loses no text', async () => {
    const { posts } = site.host.content;
    const { id } = await posts.create({ title: 'Tea', content: 'Green', status: 'publish', authorId: 1 });
    const path = `/admin/posts/edit?id=${id}`;
    const versionIn = ({ html }: { readonly html: string }): string =>
      /name="version" value="([^"]+)"/.exec(html)?.[1] ?? 'none';
    const fields = { id: String(id), title: 'Tea', status: 'publish', version: versionIn(await browser.get(path)) };
    const bo = await site.create({ login: 'bo', role: 'editor', displayName: 'Bo' });
    await posts.update(id, { content: 'Black' }, { as: bo });
    const refused = await browser.submit(path, 'save', { ...fields, content: 'Mine <b>', slug: 'mine' });
    expect(refused.status).to.equal(409);
    expect(refused.text)
      .to.contain('Compare in a new tab')
      .and.contain('Nothing was saved. Bo changed this post on 1 Jan 2026');
    expect(refused.html).to.contain('>Mine &lt;b&gt;</textarea>').and.contain('value="mine"');
    expect((await posts.get(id))?.content).to.equal('Black');
    const [unsaved] = (await site.host.content.revisions.list(id)).filter(({ slug }) => slug.includes('autosave'));
    expect(unsaved?.content).to.equal('Mine <b></b>');
    const overwritten = await browser.submit(path, 'save', { ...fields, content: 'Mine', version: versionIn(refused) });
    expect(overwritten.text).to.contain('Post saved.');
    expect((await posts.get(id))?.content).to.equal('Mine');

    // Another writer comes between the check and the write.
    site.host.hooks.addAction('pre_post_update', async function change() {
      site.host.hooks.removeAction('pre_post_update', change);
      await posts.update(id, { content: 'Between' }, { as: bo });
    });
    const version = versionIn(await browser.get(path));
    const late = await browser.submit(path, 'save', { ...fields, content: 'Late', version });
    expect([late.status, late.html.includes('>Late</textarea>')]).to.deep.equal([409, true]);
    expect((await posts.get(id))?.content).to.equal('Between');
  });
});
