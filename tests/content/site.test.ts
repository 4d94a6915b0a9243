import { expect } from 'chai';
import { describeSharedHosts } from '../helpers/dialects.ts';
import { shareSite } from '../helpers/share-site.ts';
import { openContentSite, type ContentSite } from './content-site.ts';

const hour = 3_600_000;

describeSharedHosts('the public site', (dialectCase) => {
  const shared = shareSite(() => openContentSite(dialectCase));
  let site: ContentSite;
  beforeEach(async () => {
    site = shared();
  });

  const get = async (path: string, init?: RequestInit): Promise<{ status: number; text: string; headers: Headers }> => {
    const response = await site.host.fetch(path, { redirect: 'manual', ...init });
    return { status: response.status, text: await response.text(), headers: response.headers };
  };
  const publish = (title: string, more: Record<string, unknown> = {}) =>
    site.host.content.posts.create({ title, content: `<p>Text of ${title}</p>`, status: 'publish', ...more });

  it('welcomes while there are no posts, and lists them page by page once there are', async () => {
    expect((await get('/')).text).to.contain('This site is up and running.');
    await site.host.options.update('posts_per_page', 2);
    for (const [index, title] of ['One', 'Two <b>&', 'Three'].entries())
      await publish(title, { date: site.host.clock.now() - (3 - index) * hour });
    await publish('Draft', { status: 'draft' });
    const home = await get('/');
    expect(home.status).to.equal(200);
    expect(home.text)
      .to.contain('Three')
      .and.contain('Two &lt;b&gt;&amp;')
      .and.contain('href="/page/2/"')
      .and.not.contain('>One<')
      .and.not.contain('Draft');
    expect(home.headers.get('content-security-policy')).to.contain("script-src 'nonce-");
    const second = await get('/page/2/');
    expect(second.text).to.contain('>One<').and.contain('href="/" rel="prev"');
    for (const path of ['/page/3/', '/page/0/', '/page/x/', '/page/2/x/'])
      expect((await get(path)).status, path).to.equal(404);
    expect((await get('/page/2')).headers.get('location')).to.equal('/page/2/');
    expect((await get('/page/1/')).headers.get('location')).to.equal('/');
  });

  it('shows posts and pages under their one address, and leads others there', async () => {
    const post = await publish('A Post');
    const parent = await publish('Parent', { type: 'page' });
    const child = await publish('Child', { type: 'page', parentId: parent.id });
    const single = await get('/2026/01/a-post/');
    expect(single.status).to.equal(200);
    expect(single.text)
      .to.contain('<p>Text of A Post</p>')
      .and.contain(`<link rel="canonical" href="${site.host.url}/2026/01/a-post/">`)
      .and.contain(`class="single post-id-${post.id} single-post"`);
    expect((await get('/parent/child/')).text).to.contain('<h1>Child</h1>');
    for (const [path, to] of [
      [`/?p=${post.id}`, '/2026/01/a-post/'],
      ['/2026/01/a-post', '/2026/01/a-post/'],
      ['/2019/07/a-post/', '/2026/01/a-post/'],
      [`/?page_id=${child.id}`, '/parent/child/'],
    ]) {
      const { status, headers } = await get(path ?? '');
      expect([status, headers.get('location')], path).to.deep.equal([301, site.host.url + to]);
    }
    for (const path of [
      '/child/',
      '/parent/none/',
      '/2026/01/none/',
      '/?p=999',
      '/?p=x',
      '/%00/',
      '/%2f/',
      '/a%5cb/',
      '/none/',
      '/2026/13/',
    ])
      expect((await get(path)).status, path).to.equal(404);
    expect((await get('/2026/01/')).text)
      .to.contain('January 2026')
      .and.contain('A Post');
    expect((await get('/2025/')).status).to.equal(404);
    expect((await get('/2026/01/a-post/', { method: 'POST' })).status).to.equal(404);
    const head = await get('/2026/01/a-post/', { method: 'HEAD' });
    expect([head.status, head.text]).to.deep.equal([200, '']);
  });

  it('keeps drafts and private posts from those who may not read them', async () => {
    const { user } = await site.as('editor');
    const draft = await publish('Hidden draft', { status: 'draft', authorId: user.id });
    const hidden = await publish('Hidden', { status: 'private', authorId: user.id });
    const trashed = await publish('Trashed');
    await site.host.content.posts.delete(trashed.id);
    for (const path of [
      `/?p=${draft.id}`,
      '/2026/01/hidden/',
      '/2026/01/trashed/',
      `/?p=${trashed.id}`,
      `/?p=${hidden.id}`,
    ])
      expect((await get(path)).status, path).to.equal(404);
    const cookie = await signIn(site);
    const preview = await get(`/?p=${draft.id}`, { headers: { cookie } });
    expect(preview.status).to.equal(200);
    expect(preview.text).to.contain('Hidden draft').and.contain('noindex').and.contain('href="/admin/posts/edit?id');
    expect(preview.headers.get('cache-control')).to.equal('private, no-store');
    expect((await get('/2026/01/hidden/', { headers: { cookie } })).text).to.contain('Private: only visible');
  });

  it('shows the results that fit best first, and the newest of equal ones', async () => {
    const now = site.host.clock.now();
    await publish('Wax and wicks', { date: now - 5 * hour });
    await publish('How to pour wax', { date: now - 4 * hour });
    await publish('To be poured', { content: '<p>How to pour wax, in short.</p>', date: now - 3 * hour });
    await publish('News', { content: '<p>Wax! We pour it. How to do that?</p>', date: now - 2 * hour });
    const { text } = await get('/?s=how+to+pour+wax');
    expect([...text.matchAll(/<h2><a [^>]*>([^<]*)/g)].map(([, title]) => title)).to.deep.equal([
      'How to pour wax',
      'To be poured',
      'News',
    ]);
  });

  it('names tagline, category, older and newer post, and offers the admin in the footer only', async () => {
    await site.host.options.update('blogdescription', 'Notes by the sea');
    const category = await site.host.content.terms.create('category', { name: 'Workshop' });
    const about = await publish('About', { type: 'page' });
    const ids: number[] = [];
    for (const [index, title] of ['First', 'Second', 'Third'].entries()) {
      const { id } = await publish(title, {
        date: site.host.clock.now() - (9 - index) * hour,
        terms: { category: [category.id] },
      });
      ids.push(id);
    }
    const home = (await get('/')).text;
    expect(home)
      .to.contain('<p class="site-tagline">Notes by the sea</p>')
      .and.contain('/category/workshop/">Workshop</a>');
    expect(home.slice(0, home.indexOf('<footer'))).to.not.contain('/admin/"');
    const second = (await get(`/?p=${ids[1]}`, { redirect: 'follow' })).text;
    expect(second).to.match(/rel="prev"><span class="muted">Older post<\/span> First<\/a>/);
    expect(second).to.match(/rel="next"><span class="muted">Newer post<\/span> Third<\/a>/);
    expect((await get(`/?p=${about.id}`)).status).to.equal(301);
    expect((await get('/about/')).text).to.contain('aria-current="page">About</a>');
    expect((await get('/none/')).text).to.contain('aria-label="Search for the page"');
  });

  it('searches posts and pages, and says so when nothing is found', async () => {
    await publish('Größe');
    await publish('Page with size', { type: 'page' });
    expect((await get('/?s=GROSSE')).text).to.contain('0 results');
    const found = await get('/?s=gr%C3%B6%C3%9Fe');
    expect(found.text).to.contain('1 result<').and.contain('href="http').and.contain('noindex');
    const nothing = await get('/?s=%3Cscript%3Enone');
    expect([nothing.status, nothing.text.includes('<script>none')]).to.deep.equal([200, false]);
    expect(nothing.text).to.contain('No results');
    expect((await get('/?s=')).status).to.equal(200);
  });

  it('has a feed in RSS 2.0 that is well-formed whatever the posts hold', async () => {
    await publish('A & <B> \u0007', { content: '<p>CDATA ]]> end</p>', excerpt: 'Short & sweet' });
    const feed = await get('/feed/');
    expect([feed.status, feed.headers.get('content-type')]).to.deep.equal([200, 'application/rss+xml; charset=utf-8']);
    expect(feed.text)
      .to.contain('<title>A &amp; &lt;B&gt;</title>')
      .and.contain('<link>http')
      .and.contain('<pubDate>Thu, 01 Jan 2026 00:00:00 GMT</pubDate>')
      .and.contain('<content:encoded><![CDATA[<p>CDATA ]]]]><![CDATA[> end</p>]]></content:encoded>')
      .and.contain('<description>Short &amp; sweet</description>');
    expect((await get('/feed/', { headers: { 'if-none-match': feed.headers.get('etag') ?? '' } })).status).to.equal(
      304,
    );
    await publish('Long', { content: `<p>${'long '.repeat(200_000)}</p>` });
    await publish('Longer', { content: `<p>${'longer '.repeat(100_000)}</p>` });
    const full = [...(await get('/feed/')).text.matchAll(/<content:encoded><!\[CDATA\[<p>(\w+)/g)].map(
      ([, word]) => word,
    );
    expect(full, 'of 1 MB in all').to.include('longer').and.include('CDATA').and.not.include('long');
    expect((await get('/feed/none/')).status).to.equal(404);
    expect((await get('/')).text).to.contain('type="application/rss+xml"');
  });

  it('makes excerpts of the beginning of a text, also where its words never end', async () => {
    const { posts, render } = site.host.content;
    const excerptOf = async (content: string): Promise<string> =>
      (await render(await posts.create({ title: 'Long', content }))).excerpt;
    expect(await excerptOf(`<p>${'💥'.repeat(2_000)}</p>`)).to.equal(`<p>${'💥'.repeat(825)} [&hellip;]</p>\n`);
    expect(await excerptOf('<i title="none">'.repeat(10_000))).to.equal('<p> [&hellip;]</p>\n');
    expect(await excerptOf('word '.repeat(56))).to.equal(`<p>${'word '.repeat(55)}[&hellip;]</p>\n`);
  });

  it('runs shortcodes and the hooks of the theme', async () => {
    const { hooks, content } = site.host;
    content.addShortcode('year', async () => '2026');
    const post = await publish('Hooked', { content: '<p>It is [year], [[year]] <a href="/[year]">x</a></p>' });
    hooks.addFilter('the_title', (title) => `${title}!`);
    hooks.addFilter('the_content', (html) => `${html}<p>More</p>`);
    hooks.addFilter('body_class', (classes) => [...classes, 'mine']);
    hooks.addFilter('wp_head', (html) => `${html}<meta name="mine" content="1">`);
    hooks.addFilter('wp_footer', (html) => `${html}<p>Foot</p>`);
    hooks.addFilter('site_navigation', (entries) => [...entries, { label: 'Shop', href: '/shop/' }]);
    const { text } = await get(`/2026/01/${post.slug}/`);
    for (const part of [
      '<h1>Hooked!</h1>',
      'It is 2026, [year] <a href="/2026">',
      '<p>More</p>',
      ' mine"',
      '<meta name="mine" content="1">',
      '<p>Foot</p>',
      '<a href="/shop/">Shop</a>',
    ])
      expect(text).to.contain(part);
    hooks.addFilter('pre_get_posts', (query) => ({ ...query, search: 'nothing like it' }));
    expect((await get('/')).text).to.contain('up and running');
  });

  it('shows posts of types that plugins add, and their lists by author', async () => {
    const { user } = await site.as('author');
    site.host.content.registerPostType('book', { label: 'Books', singularLabel: 'Book', public: true });
    await publish('Moby', { type: 'book', authorId: user.id });
    expect((await get('/book/moby/')).text).to.contain('<h1>Moby</h1>');
    expect((await get('/moby/')).status).to.equal(404);
    expect((await get(`/?author=${user.id}`)).status).to.equal(404);
    await publish('By author', { authorId: user.id });
    expect((await get(`/?author=${user.id}`)).text).to.contain(`Posts by ${user.displayName}`);
  });

  it('answers pages that do not exist in the look of the site', async () => {
    await publish('Any', { type: 'page' });
    const { status, text } = await get('/none/');
    expect(status).to.equal(404);
    expect(text).to.contain('Page not found').and.contain('class="error404"').and.contain('/any/');
    await publish('A post');
    const searches = async (path: string): Promise<number> => (await get(path)).text.split('role="search"').length - 1;
    expect([await searches('/none/'), await searches('/?s=post'), await searches('/')]).to.deep.equal([1, 1, 1]);
  });
});

/** Signs the first user made by `as` in; answers the cookie. */
async function signIn({ host }: ContentSite): Promise<string> {
  const [user] = await host.users.list();
  const response = await host.fetch('/admin/login', {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ login: user?.login ?? '', password: 'correct horse battery' }),
  });
  return (response.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}
