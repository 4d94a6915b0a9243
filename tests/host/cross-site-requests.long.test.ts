import { expect } from 'chai';
import { describeHosts } from '../helpers/dialects.ts';
import { startSmtpReceiver } from '../helpers/smtp-receiver.ts';
import { openPages, password, type AdminBrowser, type PagesSite } from '../pages/pages-site.ts';
import { sendRaw } from '../rest/raw-request.ts';

/** Values of `Host` that a foreign page, proxy or script may send. */
const foreignHosts = [
  'evil.example',
  'evil.example:8443',
  'EVIL.EXAMPLE.',
  'user@evil.example',
  'evil.example/path?to=/',
  'evil.example#',
  '[::1]',
  '[fe80::1%25eth0]:80',
  '127.0.0.1.evil.example',
  '"><script>alert(1)</script>.evil.example',
  "evil.example' onerror='x",
  '{{evil.example}}',
  'evil.example, other.example',
  'evil.example other.example',
  'xn--evl-jma.example',
  `${'evil.'.repeat(200)}example`,
  '',
];

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
    const attempts: readonly (readonly [status: number, path: string, headers?: Readonly<Record<string, string>>])[] = [
      // A visitor, who may not create.
      [401, root],
      [401, root, { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
      [401, '/?rest_route=/wp/v2/posts'],
      // A nonce that is wrong.
      [403, `${root}?_wpnonce=`],
      [403, `${root}?_wpnonce=abcdefghij`],
      [403, `${root}?_wpnonce=${nonces.page}`],
      [403, `${root}?_wpnonce=${nonces.other}`],
      [403, root, { 'x-wp-nonce': nonces.page }],
      [403, root, { 'x-wp-nonce': 'abcdefghij' }],
      // A method that the route does not have.
      [404, `${root}?_method=PUT`],
      [404, root, { 'x-http-method-override': 'PUT' }],
    ];
    for (const [expected, path, headers] of attempts) {
      const { status } = await ada.post(path, fields, headers);
      expect(status, `${path} ${JSON.stringify(headers)}`).to.equal(expected);
    }
    expect(await posts()).to.equal(0);
    // What the attempts lacked: the same request creates with the nonce of REST.
    const { html: nonce } = await ada.get('/admin/rest-nonce');
    expect((await ada.post(root, fields, { 'x-wp-nonce': nonce })).status).to.equal(201);
    expect(await posts()).to.equal(1);
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

  it('take neither links, redirects, cookies nor mails from the host that they name', async function () {
    this.timeout(60_000);
    const receiver = await startSmtpReceiver();
    const mail = { host: '127.0.0.1', port: receiver.port, security: 'none', from_email: 'site@example.com' };
    await site.host.mail.settings.save(mail);
    const post = await site.host.content.posts.create({ title: 'Tea', content: 'Green', status: 'publish' });
    const own = new URL(site.host.url).host;
    const fetchAs = async (host: string, request: string, form = ''): Promise<string> => {
      const type = form === '' ? '' : 'Content-Type: application/x-www-form-urlencoded\r\n';
      const lines = `${request} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${type}`;
      const text = await sendRaw(site.host.url, `${lines}Content-Length: ${form.length}\r\n\r\n${form}`).ended();
      // What differs from one response to the next.
      return text
        .replace(/^(date|x-request-id|etag):.*\r\n/gim, '')
        .replace(/((?:session|csrf|notice)[\w-]*=)[^;\r]*/gi, '$1…')
        .replace(/nonce(-|=")[\w+/=]{24}/g, 'nonce$1…')
        .replace(/\b[\da-f]{8}-[\da-f-]{27}\b/g, 'id');
    };
    const paths = ['/', `/?p=${post.id}`, '/feed/', '/none', '/admin', '/admin/login', '/admin/forgot-password'];
    const rest = ['/wp-json/', '/wp-json/wp/v2/posts', '/wp-json/openapi.json', '/robots.txt', '/sitemap.xml'];
    const signIn = new URLSearchParams({ login: 'ada', password, to: '/admin/profile' }).toString();
    const requests: readonly (readonly [request: string, form?: string])[] = [
      ...[...paths, ...rest].map((path) => [`GET ${path}`] as const),
      ['POST /admin/login', signIn],
      // An absolute form replaces `Host` (RFC 9112).
      ['GET http://evil.example/wp-json/'],
    ];
    const plain = new Map<string, string>();
    for (const [request, form] of requests) plain.set(request, await fetchAs(own, request, form));
    expect(plain.get('POST /admin/login'))
      .to.match(/^HTTP\/1\.1 303 /)
      .and.match(/^set-cookie: /im);
    for (const host of foreignHosts)
      for (const [request, form] of requests) {
        const text = await fetchAs(host, request, form);
        expect(text === plain.get(request), `${request} with ${host}:\n${text.slice(0, 600)}`).to.equal(true);
      }
    const mailed = ['evil.example', ...foreignHosts.slice(1, 4)];
    for (const [index, host] of mailed.entries()) {
      await site.create({ login: `reader${String(index)}`, role: 'subscriber' });
      await fetchAs(host, 'POST /admin/forgot-password', `login=reader${String(index)}`);
    }
    await receiver.next(mailed.length);
    for (const { raw, link } of receiver.mails) {
      expect(new URL(link).origin).to.equal(site.host.url);
      expect(raw).not.to.match(/evil/i);
    }
    await receiver.stop();
  });

  it('act with the nonce of the page in the body alone, multipart or not', async () => {
    const cookie = (
      await site.host.fetch('/admin/login', {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams({ login: 'ada', password }),
      })
    ).headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ');
    const nonceOf = async (path: string): Promise<string> => {
      const html = await (await site.host.fetch(path, { headers: { cookie, accept: 'text/html' } })).text();
      const form = html.split('<form').find((part) => /action="\/admin\/(media|profile)\?action/.test(part)) ?? '';
      return /name="_nonce" value="([^"]+)"/.exec(form)?.[1] ?? '';
    };
    const page = '/admin/media';
    const [own, other] = [await nonceOf(page), await nonceOf('/admin/profile')];
    expect(own).not.to.equal('');
    const uploads = async (): Promise<number> => site.host.content.posts.count({ type: 'attachment', status: 'any' });
    const send = async (query: string, nonce: Readonly<Record<string, string>>): Promise<number> => {
      const body = new FormData();
      for (const [name, value] of Object.entries(nonce)) body.append(name, value);
      body.append('file', new Blob(['tea']), 'tea.txt');
      const headers = { cookie, accept: 'text/html' };
      const init = { method: 'POST', redirect: 'manual', headers, body } as const;
      return (await site.host.fetch(`${page}?action=upload${query}`, init)).status;
    };
    for (const [query, fields] of [
      ['', {}],
      ['', { _nonce: '' }],
      ['', { _nonce: 'abcdefghij' }],
      ['', { _nonce: other }],
      ['', { '_nonce[]': own }],
      ['', { _wpnonce: own }],
      [`&_nonce=${own}`, {}],
      [`&_wpnonce=${own}`, {}],
      [`&_nonce=${own}`, { _nonce: 'abcdefghij' }],
    ] as const)
      expect(await send(query, fields), `${query} ${JSON.stringify(fields)}`).to.equal(403);
    // A page without uploads reads no multipart body.
    const profile = new FormData();
    profile.append('_nonce', other);
    profile.append('display_name', 'Planted');
    const answer = await site.host.fetch('/admin/profile?action=save', {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie },
      body: profile,
    });
    expect(answer.status).to.equal(403);
    const simple = { _nonce: '', display_name: 'Planted' };
    expect((await ada.post(`/admin/profile?action=save&_nonce=${nonces.page}`, simple)).status).to.equal(403);
    expect((await ada.get(`/admin/profile?action=save&_nonce=${nonces.page}&display_name=Planted`)).status).to.equal(
      200,
    );
    expect((await site.host.users.find('ada'))?.displayName).not.to.equal('Planted');
    expect(await uploads()).to.equal(0);
    expect(await send('', { _nonce: own }), 'the nonce of the page').to.be.oneOf([200, 303]);
    expect(await uploads()).to.equal(1);
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
