import { expect } from 'chai';
import { describeHosts } from '../helpers/dialects.ts';
import { openPages, type AdminBrowser, type PagesSite } from '../pages/pages-site.ts';

/** One pixel. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describeHosts('admin lists of content', (dialectCase) => {
  let site: PagesSite;
  let browser: AdminBrowser;
  beforeEach(async () => {
    site = await openPages(dialectCase);
    await site.create({ login: 'ed', role: 'editor', displayName: 'Ed' });
    browser = await site.signIn('ed');
  });
  afterEach(() => site.host.stop());

  it('count posts by status, and leave out those with a status of an inactive plugin', async () => {
    for (const [title, status] of [
      ['One', 'publish'],
      ['Two', 'publish'],
      ['Three', 'draft'],
      ['Four', 'trash'],
    ] as const)
      await site.host.content.posts.create({ title, status });
    const lost = await site.host.content.posts.create({ title: 'Lost', status: 'draft' });
    await site.host.database.knex('posts').where({ id: lost.id }).update({ status: 'of-a-plugin' });
    const all = await browser.get('/admin/posts');
    expect(all.text).to.contain('All (3)').and.contain('Published (2)').and.contain('3 entries').and.contain('Three');
    expect(all.text).not.to.contain('Lost');
    expect(all.text).not.to.contain('Four');
    const drafts = await browser.get('/admin/posts?status=draft');
    expect(drafts.text).to.contain('1 entry').and.contain('Three');
    expect(drafts.text).not.to.contain('One');
    const home = await browser.get('/admin/');
    expect(home.text).to.contain('Two').and.contain('Three');
    expect(home.text).not.to.contain('Lost');
  });

  it('find comments, change several at once, and undo', async () => {
    const post = await site.host.content.posts.create({ title: 'Tea', status: 'publish' });
    const comment = { post_id: post.id, user_id: 0, parent_id: 0, author_email: '', author_url: '', author_ip: '' };
    for (const [content, status] of [
      ['With milk', 'hold'],
      ['With sugar', 'approved'],
      ['Neither', 'hold'],
    ] as const)
      await site.host.database.knex('comments').insert({
        ...{ ...comment, content, status, author_agent: '', author_name: 'Ada', date: 1 },
        search_text: content.toLowerCase(),
      });
    const found = await browser.get('/admin/comments?s=with');
    expect(found.text).to.contain('With milk').and.contain('All (2)').and.contain('Search: with');
    expect(found.text).not.to.contain('Neither');
    const spam = await browser.submit('/admin/comments?s=with', 'bulk', { do: 'spam', ids: '1,2', back: 's=with' });
    expect(spam.text).to.contain('2 comments marked as spam.').and.contain('No comments found');
    const was = '1:hold,2:approved';
    expect(spam.html).to.contain(`name="was" value="${was}"`);
    const undone = await browser.submit('/admin/comments', 'bulk', {
      do: 'undo',
      ids: '1,2',
      was,
      back: 's=with',
    });
    expect(undone.text).to.contain('2 comments as before.').and.contain('Pending (1)').and.contain('Approved (1)');
    const none = await browser.submit('/admin/comments', 'bulk', { do: 'spam', ids: '' });
    expect(none.text).to.contain('Select entries and an action first.');
    const unknown = await browser.submit('/admin/comments', 'bulk', { do: 'publish', ids: '1' });
    expect(unknown.text).to.contain('Select entries and an action first.');
  });

  it('show the featured image of a post, and no private one', async () => {
    const { posts, media } = site.host.content;
    const save = (name: string, isPrivate: boolean) => media.save({ bytes: png, name, isPrivate });
    const [shown, hidden] = [await save('cup.png', false), await save('secret.png', true)];
    await posts.create({ title: 'Tea', featuredMediaId: shown.id });
    await posts.create({ title: 'Coffee', featuredMediaId: hidden.id });
    const { html } = await browser.get('/admin/posts');
    const pictures = [...html.matchAll(/class="row-picture">(?:<img\s+src="([^"]*)")?/g)].map(([, src = '']) => src);
    expect(pictures.sort()).to.deep.equal(['', new URL(shown.url).pathname]);
  });

  it('act on several at once, come back to the same page of the same search, and undo', async () => {
    const { posts } = site.host.content;
    const ids: number[] = [];
    for (let number = 10; number < 35; number += 1)
      ids.push((await posts.create({ title: `Tea ${number}`, status: 'publish' })).id);
    await posts.create({ title: 'Coffee' });
    const second = await browser.get('/admin/posts?s=tea&sort=title&order=asc&page=2');
    expect(second.text)
      .to.contain('Tea 30')
      .and.contain('Page 2 of 2')
      .and.contain('All (25)')
      .and.contain('Published (25)')
      .and.not.contain('Draft (');
    expect(second.html).to.contain('aria-sort="ascending"');
    const back = 's=tea&sort=title&order=asc&page=2';
    const trashed = await browser.submit(`/admin/posts?${back}`, 'bulk', {
      do: 'trash',
      ids: ids.slice(20, 23).join(','),
      back,
    });
    expect(trashed.text)
      .to.contain('3 entries moved to the trash.')
      .and.contain('Undo')
      .and.contain('Tea 33')
      .and.not.contain('Tea 30');
    expect((await posts.get(ids[20]!))?.status).to.equal('trash');
    const undone = await browser.submit(`/admin/posts?${back}`, 'bulk', {
      do: 'undo',
      ids: ids.slice(20, 23).join(','),
      back,
    });
    expect(undone.text).to.contain('3 entries restored.').and.contain('Tea 30');
    expect((await posts.get(ids[20]!))?.status).to.equal('publish');
    // The last page is empty afterwards: the one before is shown.
    const last = await browser.submit(`/admin/posts?${back}`, 'bulk', {
      do: 'trash',
      ids: ids.slice(20).join(','),
      back,
    });
    expect(last.text).to.contain('5 entries moved to the trash.').and.contain('Tea 29');
    expect((await browser.get('/admin/posts?s=tea&per_page=50')).text).to.contain('20 entries');
    const nothing = await browser.submit('/admin/posts', 'bulk', { do: 'trash' });
    expect(nothing.text).to.contain('Select entries and an action first.');
  });
});
