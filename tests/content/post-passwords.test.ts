import { expect } from 'chai';
import type { Post } from '#plugin-api';
import { describeDialects } from '../helpers/dialects.ts';
import { openContentSite, type Call, type ContentSite } from './content-site.ts';

const secret = 'open sesame';
const day = 24 * 3_600_000;

describeDialects('a post with a password', (_open, dialectCase) => {
  let site: ContentSite;
  let post: Post;
  let path: string;
  beforeEach(async () => {
    site = await openContentSite(dialectCase);
    post = await site.host.content.posts.create({
      title: 'Club minutes',
      content: '<p>The treasure lies below the oak.</p>',
      excerpt: 'Where the treasure lies',
      status: 'publish',
      password: secret,
    });
    path = new URL(await site.host.content.permalink(post)).pathname;
  });
  afterEach(() => site.host.stop());

  const get = async (at: string, cookie = ''): Promise<{ status: number; text: string; headers: Headers }> => {
    const response = await site.host.fetch(at, { redirect: 'manual', headers: cookie === '' ? {} : { cookie } });
    return { status: response.status, text: await response.text(), headers: response.headers };
  };
  const enter = async (password: string, headers: Readonly<Record<string, string>> = {}) => {
    const response = await site.host.fetch('/post-password', {
      method: 'POST',
      redirect: 'manual',
      headers,
      body: new URLSearchParams({ post: String(post.id), post_password: password }),
    });
    return { status: response.status, text: await response.text(), headers: response.headers };
  };
  const read = async (call: Call, query = '') => {
    const { status, body } = await call(`/posts/${post.id}${query}`);
    return { status, code: body.code, content: body.content, excerpt: body.excerpt, password: body.password };
  };

  it('opens no other post with its cookie, also one with the same password', async () => {
    const own = await site.host.content.posts.create({
      title: 'Own',
      content: 'x',
      status: 'publish',
      password: secret,
    });
    const response = await site.host.fetch('/post-password', {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ post: String(own.id), post_password: secret }),
    });
    const cookie = (response.headers.getSetCookie()[0] ?? '').split(';')[0] ?? '';
    expect((await get(new URL(await site.host.content.permalink(own)).pathname, cookie)).text).not.to.contain('Enter');
    expect((await get(path, cookie)).text).not.to.contain('below the oak');
    const renamed = cookie.replace(String(own.id), String(post.id));
    expect((await get(path, renamed)).text).not.to.contain('below the oak');
  });

  it('is empty in REST but for its editors and for those who know the password', async () => {
    const hidden = { rendered: '', protected: true };
    expect(await read(site.call)).to.deep.include({
      status: 200,
      content: hidden,
      excerpt: hidden,
      password: undefined,
    });
    const [listed] = (await site.call('/posts')).body;
    expect([listed.content, listed.excerpt, listed.title.rendered]).to.deep.equal([hidden, hidden, 'Club minutes']);
    const [embedded] = (await site.call('/posts?context=embed')).body;
    expect(embedded.excerpt).to.deep.equal(hidden);

    const known = await site.call(`/posts/${post.id}?password=${encodeURIComponent(secret)}`);
    expect([known.status, known.headers.get('cache-control'), known.body.content, known.body.password]).to.deep.equal([
      200,
      'private, no-store',
      { rendered: '<p>The treasure lies below the oak.</p>', protected: true },
      undefined,
    ]);
    expect(known.body.excerpt.rendered).to.contain('Where the treasure lies');
    expect(await read(site.call, '?password=wrong')).to.include({ status: 403, code: 'rest_post_incorrect_password' });
    // Never for a list, and not from a body.
    const many = (await site.call(`/posts?password=${encodeURIComponent(secret)}`)).body;
    expect(many[0].content).to.deep.equal(hidden);

    const [editor, contributor] = [(await site.as('editor')).call, (await site.as('contributor')).call];
    expect(await read(editor)).to.deep.include({ content: hidden });
    expect(await read(editor, '?context=edit')).to.deep.include({
      password: secret,
      content: {
        raw: '<p>The treasure lies below the oak.</p>',
        rendered: '<p>The treasure lies below the oak.</p>',
        protected: true,
      },
    });
    expect((await contributor('/posts?context=edit')).body).to.deep.equal([]);
    expect((await site.call(`/posts/${post.id}/revisions`)).status).to.equal(401);
  });

  it('is written over REST; private posts and media have none', async () => {
    const { call } = await site.as('editor');
    const made = await call('/posts', { method: 'POST', json: { title: 'A', password: 'x', status: 'publish' } });
    expect([made.status, made.body.password, made.body.content.protected]).to.deep.equal([201, 'x', true]);
    const { id } = made.body as { id: number };
    const change = async (json: unknown) => (await call(`/posts/${id}`, { method: 'POST', json })).body;
    expect((await change({ title: 'B' })).password).to.equal('x');
    expect(await change({ status: 'private' })).to.deep.include({ password: '' });
    await change({ status: 'publish', password: 'y' });
    expect(await change({ password: '' })).to.deep.include({ password: '' });
    expect((await site.call(`/posts/${id}`)).body.content.protected).to.equal(false);
    expect((await change({ password: 'x'.repeat(256) })).code).to.equal('rest_invalid_param');
  });

  it('shows a form on its page, and its text once the password is entered', async () => {
    const closed = await get(path);
    expect([closed.status, closed.headers.get('cache-control')]).to.deep.equal([200, 'private, no-store']);
    expect(closed.text)
      .to.contain('action="/post-password"')
      .and.contain('Protected: Club minutes')
      .and.not.contain('treasure');
    const wrong = await enter('wrong');
    expect([wrong.status, wrong.headers.getSetCookie()]).to.deep.equal([403, []]);
    expect(wrong.text).to.contain('Incorrect password').and.not.contain('treasure');
    expect((await enter(secret, { 'sec-fetch-site': 'cross-site' })).status).to.equal(404);

    const right = await enter(secret);
    expect([right.status, right.headers.get('location')]).to.deep.equal([303, site.host.url + path]);
    const [line = ''] = right.headers.getSetCookie();
    expect(line).to.contain('HttpOnly').and.contain('SameSite=Lax').and.contain('Max-Age=864000');
    expect(line).to.not.contain('sesame');
    const cookie = line.split(';', 1)[0] ?? '';
    const opened = await get(path, cookie);
    expect(opened.headers.get('cache-control')).to.equal('private, no-store');
    expect(opened.text).to.contain('The treasure lies below the oak.').and.not.contain('post-password');
    const forged = cookie.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
    expect((await get(path, forged)).text).to.not.contain('treasure');
    expect((await get(path, cookie.replace(/=\d+/, '=9999999999'))).text).to.not.contain('treasure');

    await site.host.content.posts.update(post.id, { password: 'another' });
    expect((await get(path, cookie)).text).to.not.contain('treasure');
    await site.host.content.posts.update(post.id, { password: secret });
    expect((await get(path, cookie)).text).to.contain('treasure');
    site.host.clock.jump(10 * day);
    expect((await get(path, cookie)).text).to.not.contain('treasure');
    await site.host.content.posts.update(post.id, { password: '' });
    expect((await get(path)).text).to.contain('treasure');
    expect((await enter('')).status).to.equal(404);
  });

  it('is found by no search, and neither lists, feed nor what plugins render hold its text', async () => {
    for (const at of ['/', '/?s=minutes', '/?s=treasure', '/feed/', '/2026/', path]) {
      const { text } = await get(at);
      expect(text, at).to.not.match(/oak|Where the/);
    }
    expect((await get('/feed/')).text)
      .to.contain('Protected: Club minutes')
      .and.contain('protected by a password');
    expect((await get('/')).text).to.contain('protected by a password');
    expect((await get('/?s=minutes')).text).to.not.contain('Club');
    const found = async (call: Call) => (await call('/posts?search=treasure')).body.length as number;
    const { call: author, user } = await site.as('author');
    expect([await found(site.call), await found(author), await found((await site.as('editor')).call)]).to.deep.equal([
      0, 0, 1,
    ]);
    await site.host.content.posts.update(post.id, { authorId: user.id });
    expect([await found(author), await found(site.call)]).to.deep.equal([1, 0]);
    const { posts, render } = site.host.content;
    expect(await render((await posts.get(post.id)) ?? post)).to.include({ content: '', excerpt: '' });
    expect([
      (await posts.find({ hasPassword: true })).length,
      (await posts.find({ hasPassword: false })).length,
    ]).to.deep.equal([1, 0]);
    expect(await posts.count({ search: 'treasure' })).to.equal(0);
  });

  it('cannot be opened by guessing: guesses are limited on pages and in REST together', async () => {
    for (let guess = 0; guess < 5; guess += 1) {
      expect((await enter(`wrong ${guess}`)).status).to.equal(403);
      expect((await read(site.call, `?password=wrong${guess}`)).status).to.equal(403);
    }
    const page = await enter(secret);
    expect([page.status, Number(page.headers.get('retry-after')) > 0, page.text.includes('treasure')]).to.deep.equal([
      429,
      true,
      false,
    ]);
    expect(await read(site.call, `?password=${encodeURIComponent(secret)}`)).to.include({
      status: 429,
      code: 'too_many_login_attempts',
    });
    site.host.clock.jump(day);
    expect((await enter(secret)).status).to.equal(303);
  });
});
