import { expect } from 'chai';
import { createFakeClock } from '#testing';
import type { FakeClock, TestHost } from '#testing';
import { describeSharedHosts } from '../helpers/dialects.ts';
import { shareSite } from '../helpers/share-site.ts';
import { apiFetch } from './api-fetch.ts';
import { openBrowserSession } from './browser-session.ts';
import type { BrowserSession } from './browser-session.ts';
import { startShop, type Item } from './shop.ts';

const hours = 3_600_000;
/** A GIF of one pixel. */
const dot = new Uint8Array(Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64'));

/** As a page of the site sets the client up: it is one object per page, so it is set up once and pointed at each test's session. */
const place = { root: '', nonceMiddleware: apiFetch.createNonceMiddleware('') };
apiFetch.use((options, next) => {
  const { path, ...others } = options;
  return next(typeof path === 'string' ? { ...others, url: `${place.root}${path.replace(/^\//, '')}` } : options);
});
apiFetch.use((options, next) => place.nonceMiddleware(options, next));

describeSharedHosts('the client @wordpress/api-fetch', ({ location }) => {
  let host: TestHost;
  let clock: FakeClock;
  let browser: BrowserSession;

  const shared = shareSite(async () => ({
    host: await startShop({
      clock: createFakeClock({ now: Date.UTC(2026, 10, 20, 1), skipSleeps: true }),
      location: location(),
    }),
  }));

  beforeEach(async () => {
    ({ host } = shared());
    host.hooks.doAction('shop_reset');
    ({ clock } = host);
    browser = await openBrowserSession(host.url);
    place.root = `${host.url}/wp-json/`;
    place.nonceMiddleware = apiFetch.createNonceMiddleware(await browser.restNonce());
    apiFetch.nonceMiddleware = place.nonceMiddleware;
    apiFetch.nonceEndpoint = `${host.url}/admin/rest-nonce`;
  });
  afterEach(() => browser.close());

  it('gets the parsed body', async () => {
    expect(await apiFetch<Item>({ path: '/shop/v1/items/7' })).to.deep.include({ id: 7, title: 'Item 7' });
  });

  it('puts by a POST with the header X-HTTP-Method-Override', async () => {
    const answer = await apiFetch({ path: '/shop/v1/echo', method: 'PUT', data: { title: 'New' } });
    expect(answer).to.deep.equal({ method: 'PUT', override: 'PUT', json: { title: 'New' }, user: 'ada' });
    expect(browser.sent.at(-1)).to.deep.include({ method: 'POST' });
  });

  it('answers null for 204', async () => {
    expect(await apiFetch({ path: '/shop/v1/items/7', method: 'DELETE' })).to.equal(null);
    expect(browser.sent.at(-1)).to.include({ method: 'POST', status: 204 });
  });

  it('throws the error object', async () => {
    expect(await refusalOf(apiFetch({ path: '/shop/v1/items/999' }))).to.deep.equal({
      code: 'shop_no_item',
      message: 'There is no such item.',
      data: { status: 404, id: '999' },
    });
    const refusal = await refusalOf(apiFetch({ path: '/shop/v1/items', method: 'POST', data: {} }));
    expect(refusal).to.deep.equal({
      code: 'rest_missing_callback_param',
      message: 'Missing parameter(s): title',
      data: { status: 400, params: ['title'] },
    });
  });

  it('hands the raw answer with its headers on when it is not to parse', async () => {
    const response = await apiFetch<unknown, false>({ path: '/shop/v1/items?per_page=10', parse: false });
    expect(['x-wp-total', 'x-wp-totalpages', 'link'].map((name) => response.headers.get(name))).to.deep.equal([
      '25',
      '3',
      `<${host.url}/wp-json/shop/v1/items?per_page=10&page=2>; rel="next", <${host.url}/wp-json/>; rel="https://api.w.org/"`,
    ]);
    const refusal = await refusalOf(apiFetch({ path: '/shop/v1/items/999', parse: false }));
    expect(refusal).to.include({ status: 404 });
  });

  it('fetches all pages of a list', async () => {
    for (let number = 26; number <= 230; number += 1)
      await host.rest.dispatch('/shop/v1/items', {
        method: 'POST',
        json: { title: `Item ${number}` },
        user: (await host.users.find('ada'))!,
      });
    const items = await apiFetch<Item[]>({ path: '/shop/v1/items?per_page=-1' });
    expect(items.map(({ id }) => id)).to.deep.equal(Array.from({ length: 230 }, (_, index) => index + 1));
    expect(browser.sent.slice(-3).map(({ url }) => new URL(url).searchParams.get('page') ?? '1')).to.deep.equal([
      '1',
      '2',
      '3',
    ]);
  });

  it('writes posts and settings, uploads, and fetches all posts', async () => {
    const form = new FormData();
    form.append('file', new Blob([dot], { type: 'image/gif' }), 'dot.gif');
    form.append('title', 'A dot');
    const media = await apiFetch<{ id: number; mime_type: string }>({
      path: '/wp/v2/media',
      method: 'POST',
      body: form,
    });
    expect(media.mime_type).to.equal('image/gif');
    for (let number = 1; number <= 101; number += 1)
      await host.rest.dispatch('/wp/v2/posts', {
        method: 'POST',
        json: { title: `Post ${number}`, status: 'publish' },
        user: (await host.users.find('ada'))!,
      });
    const posts = await apiFetch<unknown[]>({ path: '/wp/v2/posts?per_page=-1&_fields=id' });
    expect(posts).to.have.length(101);
    const post = await apiFetch<{ id: number }>({
      path: '/wp/v2/posts',
      method: 'POST',
      data: { title: 'Last', status: 'draft' },
    });
    expect(
      await apiFetch({ path: `/wp/v2/posts/${post.id}`, method: 'PUT', data: { title: 'Changed' } }),
    ).to.deep.include({ id: post.id, status: 'draft' });
    expect(await apiFetch({ path: `/wp/v2/posts/${post.id}?force=true`, method: 'DELETE' })).to.include({
      deleted: true,
    });
    expect(await apiFetch({ path: '/wp/v2/settings', method: 'PUT', data: { title: 'By a client' } })).to.include({
      title: 'By a client',
    });
    expect(await apiFetch({ path: '/wp/v2/users/me' })).to.include({ slug: 'ada' });
  });

  describe('with its nonce', () => {
    const whoAmI = (): Promise<{ user: string }> => apiFetch({ path: '/shop/v1/echo', method: 'POST', data: {} });

    it('is the signed-in user, and without one a visitor', async () => {
      expect(await whoAmI()).to.include({ user: 'ada' });
      const response = await fetch(`${host.url}/wp-json/shop/v1/echo`, { method: 'POST' });
      expect(await response.json()).to.include({ user: '' });
      expect(response.headers.has('x-wp-nonce')).to.equal(false);
    });

    it('gets a fresh one with each answer, so that it never runs out while it is used', async () => {
      const first = place.nonceMiddleware.nonce;
      clock.jump(13 * hours);
      const response = await apiFetch<unknown, false>({ path: '/shop/v1/items', parse: false });
      const fresh = response.headers.get('x-wp-nonce');
      expect(fresh)
        .to.match(/^[\w-]{10}$/)
        .and.not.equal(first);
      clock.jump(13 * hours);
      place.nonceMiddleware.nonce = String(fresh);
      expect(await whoAmI()).to.include({ user: 'ada' });
      expect(browser.sent.at(-1)).to.include({ status: 200 });
    });

    it('fetches a new one when its own is too old, and sends the request again', async () => {
      const first = place.nonceMiddleware.nonce;
      clock.jump(25 * hours);
      const before = browser.sent.length;
      expect(await whoAmI()).to.include({ user: 'ada' });
      expect(browser.sent.slice(before).map(({ url, status }) => [new URL(url).pathname, status])).to.deep.equal([
        ['/wp-json/shop/v1/echo', 403],
        ['/admin/rest-nonce', 200],
        ['/wp-json/shop/v1/echo', 200],
      ]);
      expect(place.nonceMiddleware.nonce)
        .to.match(/^[\w-]{10}$/)
        .and.not.equal(first);
    });

    it('throws the refusal when nobody is signed in any more', async () => {
      browser.forgetCookies();
      expect(await refusalOf(whoAmI())).to.deep.include({
        code: 'rest_cookie_invalid_nonce',
        message: 'Cookie check failed',
      });
      expect(browser.sent.at(-1)).to.include({ url: `${host.url}/admin/rest-nonce`, status: 401 });
    });
  });
});

function refusalOf(answer: Promise<unknown>): Promise<unknown> {
  return answer.then(
    (body) => expect.fail(`was answered: ${JSON.stringify(body)}`),
    (reason: unknown) => reason,
  );
}
