import { expect } from 'chai';
import { describeHosts } from '../helpers/dialects.ts';
import { openPages, password, type AdminBrowser, type PagesSite } from '../pages/pages-site.ts';

describeHosts('requests that other sites make with the cookie of a user', (dialectCase) => {
  let site: PagesSite;
  let ada: AdminBrowser;
  let nonces: { readonly page: string; readonly other: string };
  const posts = async (): Promise<number> =>
    Number((await site.host.database.knex('posts').count({ rows: '*' }).first())?.['rows']);

  beforeEach(async () => {
    site = await openPages(dialectCase);
    await site.create({ login: 'ada', role: 'administrator' });
    await site.create({ login: 'bob', role: 'administrator' });
    ada = await site.signIn('ada');
    const nonceOf = (html: string): string => /name="_nonce" value="([^"]+)"/.exec(html)?.[1] ?? '';
    nonces = {
      page: nonceOf((await ada.get('/admin/profile')).html),
      other: nonceOf((await (await site.signIn('bob')).get('/admin/profile')).html),
    };
  });
  afterEach(() => site.host.stop());

  const fields = { title: 'Planted', status: 'publish' };
  const root = '/wp-json/wp/v2/posts';

  it('create nothing over REST, whatever carries the method or the nonce', async () => {
    expect(nonces.page).not.to.equal('');
    const attempts: readonly (readonly [path: string, headers?: Readonly<Record<string, string>>])[] = [
      [root],
      [`${root}?_wpnonce=`],
      [`${root}?_wpnonce=abcdefghij`],
      [`${root}?_wpnonce=${nonces.page}`],
      [`${root}?_wpnonce=${nonces.other}`],
      [`${root}?_method=PUT`],
      [root, { 'x-http-method-override': 'PUT' }],
      [root, { 'x-wp-nonce': nonces.page }],
      [root, { 'x-wp-nonce': 'abcdefghij' }],
      [root, { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
      ['/?rest_route=/wp/v2/posts'],
    ];
    for (const [path, headers] of attempts) {
      const { status } = await ada.post(path, fields, headers);
      expect(status, `${path} ${JSON.stringify(headers)}`).to.be.oneOf([401, 403, 404]);
    }
    expect(await posts()).to.equal(0);
  });

  it('create nothing by a GET that claims to be a POST', async () => {
    for (const query of ['_method=POST', '_method=POST&_wpnonce=abcdefghij'])
      await ada.get(`${root}?${query}&title=Planted&status=publish`);
    expect(await posts()).to.equal(0);
  });

  it('create nothing in a batch', async () => {
    const cookie = await site.host.fetch('/admin/login', {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ login: 'ada', password }),
    });
    const response = await site.host.fetch('/wp-json/batch/v1', {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie: cookie.headers.getSetCookie().join('; ') },
      body: JSON.stringify({ requests: [{ method: 'POST', path: '/wp/v2/posts', body: fields }] }),
    });
    const { responses } = (await response.json()) as { responses: { status: number }[] };
    expect(responses.map(({ status }) => status)).to.deep.equal([401]);
    expect(await posts()).to.equal(0);
  });

  it('lead from the sign-in to no other site', async () => {
    const targets = ['//evil.example', 'https://evil.example', '/\\evil.example', '/admin/\\..//evil.example', 'evil'];
    for (const to of targets) {
      const { location } = await site.open().post('/admin/login', { login: 'ada', password, to });
      const target = new URL(location ?? '/', site.host.url);
      expect([to, target.origin]).to.deep.equal([to, site.host.url]);
    }
  });

  it('are answered alike whatever host or proxy their headers name', async () => {
    const plain = await (await site.host.fetch('/wp-json/')).text();
    for (const name of [
      'x-forwarded-host',
      'x-forwarded-proto',
      'forwarded',
      'x-real-ip',
      'x-original-url',
      'x-rewrite-url',
    ])
      for (const value of ['evil.example', 'https', 'host=evil.example;proto=https', '/admin/']) {
        const text = await (await site.host.fetch('/wp-json/', { headers: { [name]: value } })).text();
        expect(text === plain, `${name}: ${value}`).to.equal(true);
      }
  });
});
