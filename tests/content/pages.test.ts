import { expect } from 'chai';
import { describeSharedHosts } from '../helpers/dialects.ts';
import { shareSite } from '../helpers/share-site.ts';
import { openPages, type AdminBrowser, type PagesSite } from '../pages/pages-site.ts';

describeSharedHosts('admin pages of content', (dialectCase) => {
  const shared = shareSite(async () => {
    const opened = await openPages(dialectCase);
    await opened.create({ login: 'ed', role: 'editor', displayName: 'Ed' });
    return opened;
  });
  let site: PagesSite;
  let browser: AdminBrowser;
  beforeEach(async () => {
    site = shared();
    browser = await site.signIn('ed');
  });

  it('list posts by status and words, and lead to the form', async () => {
    const { posts } = site.host.content;
    expect((await browser.get('/admin/posts')).text).to.contain('No entries yet');
    await posts.create({ title: 'Tea', status: 'publish' });
    await posts.create({ title: 'Coffee' });
    const all = await browser.get('/admin/posts');
    expect(all.text)
      .to.contain('All (2)')
      .and.contain('Published (1)')
      .and.contain('Draft (1)')
      .and.contain('Tea')
      .and.contain('Coffee');
    expect((await browser.get('/admin/posts?status=draft')).text)
      .to.contain('Coffee')
      .and.not.contain('Tea');
    expect((await browser.get('/admin/posts?s=TEA')).text)
      .to.contain('Tea')
      .and.not.contain('Coffee');
    expect((await browser.get('/admin/posts?s=milk')).text).to.contain('No results');
  });

  it('show comments by state to moderators, who approve, hold, mark, trash, restore and delete them', async () => {
    const { posts } = site.host.content;
    const post = await posts.create({ title: 'Tea', status: 'publish' });
    await browser.submit(`/admin/posts/edit?id=${post.id}`, 'save', {
      id: String(post.id),
      title: 'Tea',
      status: 'publish',
      comments: 'open',
    });
    expect((await posts.get(post.id))?.commentStatus).to.equal('open');
    await site.host.options.update('comment_registration', false);
    const made = await site.host.fetch('/wp-json/wp/v2/comments', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        post: post.id,
        content: '<b>Nice</b> tea',
        author_name: 'Ada',
        author_email: 'ada@example.com',
      }),
    });
    const { id } = (await made.json()) as { id: number };
    const state = async (): Promise<unknown> => {
      const response = await site.host.fetch(`/wp-json/wp/v2/comments/${id}`);
      return ((await response.json()) as { status?: unknown; code?: unknown }).status ?? 'hidden';
    };
    const list = await browser.get('/admin/comments?status=hold');
    expect(list.text).to.contain('Pending (1)').and.contain('Nice tea').and.contain('ada@example.com');
    const act = (action: string, status = '') =>
      browser.submit(`/admin/comments?status=${status}`, action, { id: String(id), back: '' });
    expect((await act('approve')).text)
      .to.contain('Comment approved.')
      .and.contain('Approved (1)');
    expect(await state()).to.equal('approved');
    for (const [action, from, tab] of [
      ['hold', '', 'Pending (1)'],
      ['spam', '', 'Spam (1)'],
      ['restore', 'spam', 'Pending (1)'],
      ['trash', '', 'Trash (1)'],
    ] as const)
      expect((await act(action, from)).text, action).to.contain(tab);
    expect((await act('delete', 'trash')).text).to.contain('No comments');
    await site.create({ login: 'con', role: 'contributor', displayName: 'Con' });
    expect((await (await site.signIn('con')).get('/admin/comments')).status).to.equal(403);
  });

  it('write, publish, change and restore a post', async () => {
    const { posts, revisions } = site.host.content;
    const fields = {
      title: 'My post',
      content: 'One\r\ntwo',
      excerpt: '',
      slug: '',
      status: 'publish',
      date: '',
      image: '0',
    };
    const saved = await browser.submit('/admin/posts/new', 'save', fields);
    expect(saved.text).to.contain('Post published.');
    const [post] = await posts.find();
    expect(post).to.deep.include({ title: 'My post', content: 'One\ntwo', slug: 'my-post', authorId: 1 });
    const path = `/admin/posts/edit?id=${post?.id}`;
    expect(
      (
        await browser.submit(path, 'save', {
          ...fields,
          id: String(post?.id),
          content: 'Three',
          slug: 'my-post',
          date: '2026-01-01T00:00',
        })
      ).text,
    ).to.contain('Post saved.');
    const [, first] = await revisions.list(post?.id ?? 0);
    expect(
      (await browser.submit(path, 'restore', { id: String(post?.id), revision: String(first?.id) })).text,
    ).to.contain('Revision restored.');
    expect((await posts.get(post?.id ?? 0))?.content).to.equal('One\ntwo');
    expect(
      (
        await browser.submit(path, 'save', {
          ...fields,
          id: String(post?.id),
          status: 'publish',
          date: '2027-03-01T10:30',
        })
      ).text,
    ).to.contain('Post scheduled.');
    expect((await posts.get(post?.id ?? 0))?.date).to.equal(Date.UTC(2027, 2, 1, 10, 30));
  });

  it('choose categories and tags of a post, create missing ones, and show them on the site', async () => {
    const { terms, posts } = site.host.content;
    const news = await terms.create('category', { name: 'News' });
    const local = await terms.create('category', { name: 'Local', parentId: news.id });
    await terms.create('post_tag', { name: 'Tea' });
    const fields = { title: 'Opening', content: 'Soon.', status: 'publish' };
    const saved = await browser.submit('/admin/posts/new', 'save', {
      ...fields,
      'terms[category][]': String(local.id),
      'new_terms[category]': 'Events',
      'terms[post_tag]': 'tea, Green & black, ',
    });
    expect(saved.text).to.contain('Post published.');
    expect(saved.html).to.match(/value="Green &amp; black, Tea"/);
    expect(saved.html).to.match(new RegExp(`value="${local.id}"\\s+checked`));
    const [post] = await posts.find({ limit: 1 });
    const names = ((await terms.ofPosts([post!.id])).get(post!.id) ?? []).map(({ name }) => name);
    expect(names.sort()).to.deep.equal(['Events', 'Green & black', 'Local', 'Tea']);
    expect(await terms.count({ taxonomy: 'post_tag' })).to.equal(2);

    const page = await site.host.fetch(new URL(await site.host.content.permalink(post!)).pathname);
    expect(await page.text())
      .to.contain('/category/news/local/')
      .and.contain('/tag/green-black/');
    for (const [path, heading] of [
      ['/category/news/', 'News'],
      ['/category/news/local/', 'Local'],
      ['/tag/tea/', 'Tea'],
    ] as const) {
      const archive = await (await site.host.fetch(path)).text();
      expect(archive, path).to.contain(`<h1>${heading}</h1>`).and.contain('Opening');
    }
    const wrong = await site.host.fetch('/category/local/', { redirect: 'manual' });
    expect([wrong.status, wrong.headers.get('location')]).to.deep.equal([301, '/category/news/local/']);
    expect((await site.host.fetch('/tag/nothing/')).status).to.equal(404);

    const cleared = await browser.submit(`/admin/posts/edit?id=${post!.id}`, 'save', {
      ...fields,
      id: String(post!.id),
      'terms[post_tag]': '',
    });
    expect(cleared.text).to.contain('Post saved.');
    expect((await terms.ofPosts([post!.id], 'post_tag')).get(post!.id) ?? []).to.deep.equal([]);
    expect((await terms.ofPosts([post!.id], 'category')).get(post!.id)).to.have.length(2);
  });

  it('list, add, change and delete categories; authors assign but do not edit them', async () => {
    const { terms } = site.host.content;
    expect((await browser.submit('/admin/terms/category', 'save', { name: 'News' })).text).to.contain(
      '“News” created.',
    );
    expect((await browser.submit('/admin/terms/category', 'save', { name: 'News' })).status).to.equal(400);
    const [news] = await terms.find({ taxonomy: 'category', search: 'news' });
    const edit = `/admin/terms/category?id=${news!.id}`;
    expect((await browser.get(edit)).html).to.contain('value="news"');
    const looped = await browser.submit(edit, 'save', { id: String(news!.id), name: 'News', parent: String(news!.id) });
    expect(looped.status).to.equal(400);
    await browser.submit(edit, 'save', { id: String(news!.id), name: 'Latest', description: '<b>New</b>' });
    expect(await terms.get(news!.id)).to.include({ name: 'Latest', slug: 'news', description: '<b>New</b>' });
    const empty = await site.host.fetch('/category/news/');
    expect(await empty.text())
      .to.contain('<b>New</b>')
      .and.contain('No posts yet.');
    const tea = await site.host.content.terms.create('category', { name: 'Tea' });
    const sorted = await browser.get('/admin/terms/category?sort=name&order=desc');
    expect(sorted.html).to.contain('aria-sort="descending"');
    expect(sorted.html.indexOf('Select Tea')).to.be.below(sorted.html.indexOf('Select Latest'));
    const milk = await site.host.content.terms.create('category', { name: 'Milk' });
    const some = await browser.submit('/admin/terms/category?s=i', 'bulk', {
      do: 'delete',
      ids: `${tea.id},${milk.id}`,
      back: 's=i',
    });
    expect(some.text).to.contain('2 categories deleted.').and.contain('Search: i');
    const gone = await browser.submit('/admin/terms/category', 'delete', { id: String(news!.id) });
    expect(gone.text).to.contain('“Latest” deleted.').and.contain('Uncategorized');
    expect((await browser.get('/admin/terms/category?id=999')).status).to.equal(404);
    await site.create({ login: 'au', role: 'author' });
    const author = await site.signIn('au');
    expect((await author.get('/admin/terms/category')).status).to.equal(403);
    const form = await author.get('/admin/posts/new');
    expect(form.html).to.contain('terms[category][]').and.not.contain('new_terms[category]');
  });

  it('let editors choose the author among those who write', async () => {
    const grace = await site.create({ login: 'grace', role: 'author' });
    const reader = await site.create({ login: 'rita', role: 'subscriber' });
    const { id } = await site.host.content.posts.create({ title: 'Tea', authorId: grace.id });
    const path = `/admin/posts/edit?id=${id}`;
    const form = (await browser.get(path)).html;
    expect(form).to.contain(`<option value="${grace.id}" selected>`).and.not.contain(`<option value="${reader.id}"`);
    const fields = { id: String(id), title: 'Tea', status: 'draft' };
    const refused = await browser.submit(path, 'save', { ...fields, author: String(reader.id) });
    expect([refused.status, refused.text.includes('You are not allowed to choose this author.')]).to.deep.equal([
      400,
      true,
    ]);
    const own = await site.signIn('grace');
    expect((await own.get('/admin/posts/new')).html).to.not.contain('name="author"');
    await browser.submit(path, 'save', { ...fields, author: '1' });
    expect((await site.host.content.posts.get(id))?.authorId).to.equal(1);
  });

  it('have the fields of meta keys that ask for one', async () => {
    const { content } = site.host;
    content.registerMeta('post', 'subtitle', {
      schema: { type: 'string', maxLength: 20 },
      editor: { label: 'Subtitle', help: 'Below the title.' },
    });
    const { id } = await content.posts.create({ title: 'Tea' });
    const path = `/admin/posts/edit?id=${id}`;
    const fields = { id: String(id), title: 'Tea', status: 'draft' };
    await browser.submit(path, 'save', { ...fields, 'meta[subtitle]': 'A plant', 'meta[secret]': 'x' });
    expect(await content.meta.all(id)).to.deep.equal({ subtitle: ['A plant'] });
    expect((await browser.get(path)).html).to.contain('value="A plant"');
    await browser.submit(path, 'save', { ...fields, 'meta[subtitle]': '' });
    expect(await content.meta.all(id)).to.deep.equal({});
    const long = 'x'.repeat(21);
    for (const [address, sent] of [
      [path, fields],
      ['/admin/posts/new', { title: 'Tea', content: 'Typed', status: 'draft' }],
    ] as const) {
      const refused = await browser.submit(address, 'save', { ...sent, 'meta[subtitle]': long });
      expect(refused.status, address).to.equal(400);
      expect(refused.html)
        .to.contain(`value="${long}"`)
        .and.contain('value="Tea"')
        .and.contain('post-meta-subtitle-error');
    }
  });

  it('bring the form back as it was typed when something is wrong with it', async () => {
    const empty = await browser.submit('/admin/posts/new', 'save', { title: '', content: '', status: 'draft' });
    expect([empty.status, empty.text.includes('Enter a title or some content.')]).to.deep.equal([400, true]);
    const wrong = await browser.submit('/admin/posts/new', 'save', {
      title: 'Kept <b>',
      content: 'kept',
      status: 'nonsense',
      date: 'soon',
    });
    expect(wrong.text).to.contain('Enter a date and time').and.contain('You are not allowed to set this status.');
    expect(wrong.html).to.contain('value="Kept &lt;b&gt;"');
    const page = await site.host.content.posts.create({ type: 'page', title: 'Page', status: 'publish' });
    expect(
      (
        await browser.submit(`/admin/pages/edit?id=${page.id}`, 'save', {
          id: String(page.id),
          title: 'Page',
          status: 'publish',
          parent: '999',
        })
      ).text,
    ).to.contain('Choose another parent page');
  });

  it('trash, restore and delete', async () => {
    const { posts } = site.host.content;
    const { id } = await posts.create({ title: 'Gone', status: 'publish' });
    expect((await browser.submit('/admin/posts', 'trash', { id: String(id) })).text).to.contain(
      '“Gone” moved to the trash.',
    );
    expect(
      (await browser.submit('/admin/posts?status=trash', 'restore', { id: String(id), back: 'status=trash' })).text,
    ).to.contain('“Gone” restored as a draft.');
    await posts.delete(id);
    expect((await browser.submit('/admin/posts?status=trash', 'delete', { id: String(id) })).text).to.contain(
      '“Gone” deleted.',
    );
    expect((await browser.get(`/admin/posts/edit?id=${id}`)).status).to.equal(404);
  });

  it('keep authors to their own, and contributors from publishing', async () => {
    const own = await site.create({ login: 'con', role: 'contributor' });
    const other = await site.host.content.posts.create({ title: 'Of Ed', authorId: 1 });
    const mine = await site.host.content.posts.create({ title: 'Mine', authorId: own.id });
    const contributor = await site.signIn('con');
    const list = await contributor.get('/admin/posts');
    expect(list.text).to.contain('Mine').and.not.contain('Of Ed');
    expect((await contributor.get(`/admin/posts/edit?id=${other.id}`)).status).to.equal(403);
    expect((await contributor.submit('/admin/posts', 'trash', { id: String(other.id) })).text).to.contain(
      'You are not allowed to delete this',
    );
    const form = await contributor.get(`/admin/posts/edit?id=${mine.id}`);
    expect(form.html).to.contain('value="pending"').and.not.contain('value="publish"');
    expect(
      (
        await contributor.submit(`/admin/posts/edit?id=${mine.id}`, 'save', {
          id: String(mine.id),
          title: 'Mine',
          status: 'publish',
        })
      ).status,
    ).to.equal(400);
    for (const path of ['pages', 'media']) expect((await contributor.get(`/admin/${path}`)).status, path).to.equal(403);
  });

  it('show the library, and change and delete a file', async () => {
    const { media } = site.host.content;
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    );
    expect((await browser.get('/admin/media')).text)
      .to.contain('No files yet')
      .and.contain('up to 10 MB');
    const sent = { file: { name: 'Plain.txt', bytes: Buffer.from('Sent without a script.') } };
    expect((await browser.upload('/admin/media', 'upload', sent)).text).to.contain('“Plain” uploaded.');
    await media.delete((await site.host.content.posts.find({ type: 'attachment', status: 'any' }))[0]!.id);
    const file = await media.save({ bytes: png, name: 'Dot.png' });
    expect((await browser.get('/admin/media?kind=image')).text)
      .to.contain('Dot')
      .and.contain('1 × 1');
    expect((await browser.get('/admin/media?kind=audio')).text)
      .to.contain('No results')
      .and.contain('Audio');
    const upload = async (name: string) => (await media.save({ bytes: Buffer.from(name), name })).id;
    const [one, two] = [await upload('one.txt'), await upload('two.txt')];
    const deleted = await browser.submit('/admin/media?sort=title&order=asc', 'bulk', {
      do: 'delete',
      ids: `${one},${two}`,
      back: 'sort=title&order=asc',
    });
    expect(deleted.text).to.contain('2 files deleted.').and.contain('Title ↑').and.contain('1 file');
    const path = `/admin/media/edit?id=${file.id}`;
    expect(
      (
        await browser.submit(path, 'save', {
          id: String(file.id),
          title: 'A dot',
          alt: 'One pixel',
          caption: '',
          description: '',
        })
      ).text,
    ).to.contain('File saved.');
    expect(await media.get(file.id)).to.deep.include({ title: 'A dot', alt: 'One pixel' });
    expect((await browser.submit(path, 'delete', { id: String(file.id) })).text).to.contain('“A dot” deleted.');
    expect(await media.get(file.id)).to.equal(null);
  });

  it('come with the types that plugins register, and go with them', async () => {
    const undo = site.host.content.registerPostType('book', { label: 'Books', singularLabel: 'Book', public: true });
    expect((await browser.get('/admin/content/book')).text)
      .to.contain('Books')
      .and.contain('Add book');
    expect(
      (await browser.submit('/admin/content/book/new', 'save', { title: 'Moby', content: '', status: 'publish' })).text,
    ).to.contain('Book published.');
    undo();
    expect((await browser.get('/admin/content/book')).status).to.equal(404);
  });
});
