import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { createApplicationPasswords } from '../../host/users/application-passwords.ts';
import { createRandom } from '../fuzz/random.ts';
import { validValue } from '../fuzz/values.ts';
import { describeDialects } from '../helpers/dialects.ts';
import { openPages, type AdminBrowser, type PagesSite } from '../pages/pages-site.ts';
import { sendRaw } from '../rest/raw-request.ts';

const pathsOf = (html: string): string[] => [
  ...new Set([...html.matchAll(/href="(\/admin\/[\w/-]*)"/g)].map(([, path = '']) => path)),
];

/** Fails if any object has a member that an attack gave to all of them. */
function expectCleanPrototypes(after: string): void {
  expect(Object.keys(Object.prototype), after).to.deep.equal([]);
  expect(Reflect.get({}, 'polluted'), after).to.equal(undefined);
  expect(Reflect.get([], 'polluted'), after).to.equal(undefined);
  expect(
    Reflect.get(() => 1, 'polluted'),
    after,
  ).to.equal(undefined);
}

const polluting = [
  '__proto__[polluted]=1',
  '__proto__.polluted=1',
  '__proto__=1',
  'constructor[prototype][polluted]=1',
  'a[__proto__][polluted]=1',
  'a[constructor][prototype][polluted]=1',
  'settings[__proto__][polluted]=1',
  'meta[][__proto__][polluted]=1',
].join('&');

describeDialects('a site under attack', (_open, dialectCase) => {
  if (dialectCase.dialect !== 'sqlite') return;
  let site: PagesSite;
  let browser: AdminBrowser;
  let authorization: string;
  beforeEach(async () => {
    site = await openPages(dialectCase, {}, { plugins: 'found' });
    const root = await site.create({ login: 'root', role: 'administrator' });
    browser = await site.signIn('root');
    const { password } = await createApplicationPasswords(site.host).create(root.id, 'test');
    authorization = `Basic ${Buffer.from(`root:${password}`).toString('base64')}`;
  });
  afterEach(() => site.host.stop());

  it('has no prototype changed by any argument of any route: JSON, form, query', async function () {
    this.timeout(120_000);
    const random = createRandom(1);
    const json = '{"polluted":1}';
    const nested = `{"__proto__":${json},"constructor":{"prototype":${json}},"a":[{"__proto__":${json}}]}`;
    const targets = site.host.rest
      .describe()
      .flatMap(({ route, endpoints }) =>
        endpoints.flatMap(({ methods, args }) => methods.map((method) => ({ method, route, args }))),
      );
    expect(targets.length).to.be.above(90);
    for (const { method, route, args } of targets) {
      // Would end the sign-in of the next requests.
      if (method === 'DELETE') continue;
      const path = route.replace(/\(\?P<\w+>(?:[^()]|\([^()]*\))*\)/g, '1');
      const required = args.filter((argument) => argument.required);
      const members = required.map(
        ({ name, schema }) => `${JSON.stringify(name)}:${JSON.stringify(validValue(schema, random))}`,
      );
      const objects = args.map(({ name }) => `${JSON.stringify(name)}:${nested}`);
      const bodies: [type: string, body: string][] = [
        [
          'application/json',
          `{"__proto__":${json},"constructor":{"prototype":${json}},${[...members, '"x":1'].join(',')}}`,
        ],
        ['application/json', `{${[...objects, '"x":1'].join(',')}}`],
        ['application/x-www-form-urlencoded', polluting],
      ];
      for (const [type, body] of method === 'GET' ? [['', '']] : bodies) {
        const response = await site.host.fetch(`/wp-json${path}?${polluting}`, {
          method,
          headers: { authorization, ...(type !== '' && { 'content-type': type }) },
          ...(body !== '' && { body }),
        });
        await response.body?.cancel();
        expectCleanPrototypes(`${method} ${route} ${type}`);
      }
    }
  });

  it('has no prototype changed by any form or address of the admin', async function () {
    this.timeout(120_000);
    let forms = 0;
    for (const page of pathsOf((await browser.get('/admin/')).html).filter((path) => !/log(in|out)|setup/.test(path))) {
      const { html } = await browser.get(`${page}?${polluting}`);
      expectCleanPrototypes(page);
      for (const form of html.split('<form').slice(1)) {
        const action = /action="([^"]+)"/.exec(form)?.[1]?.replaceAll('&#x3D;', '=').replaceAll('&amp;', '&') ?? '';
        const nonce = /name="_nonce" value="([^"]+)"/.exec(form)?.[1];
        if (nonce === undefined || /logout|deactivate|uninstall|sign-out|backup/.test(action)) continue;
        await browser.post(`${action}&${polluting}`, {
          _nonce: nonce,
          ...Object.fromEntries(new URLSearchParams(polluting)),
        });
        expectCleanPrototypes(action);
        forms += 1;
      }
    }
    expect(forms).to.be.above(20);
  });

  it('gives no file but backups as a backup, and deletes no other', async () => {
    const { dataDir } = dialectCase.location();
    await browser.submit('/admin/tools/backup', 'create');
    const folder = join(dataDir, 'backups');
    const [own = ''] = await readdir(folder);
    expect([(await stat(folder)).mode & 0o777, (await stat(join(folder, own))).mode & 0o777]).to.deep.equal([
      0o700, 0o600,
    ]);
    await writeFile(join(folder, 'notes.txt'), 'not a backup');
    const foreign = [
      '../site.sqlite',
      '..%2fsite.sqlite',
      '..\\site.sqlite',
      join(dataDir, 'site.sqlite'),
      '/etc/passwd',
      'notes.txt',
      `${own}/../../site.sqlite`,
      `../backups/${own}`,
      `${own}\0.txt`,
      '',
    ];
    const act = (action: string, name: string) => browser.submit('/admin/tools/backup', action, { name });
    const before = [await readdir(folder), await readdir(dataDir)];
    for (const name of foreign)
      for (const action of ['download', 'delete']) {
        const { headers } = await act(action, name);
        expect(headers.get('content-disposition'), `${action} ${name}`).to.equal(null);
      }
    expect([await readdir(folder), await readdir(dataDir)]).to.deep.equal(before);
    expect((await act('download', own)).headers.get('content-disposition'), 'the real name').to.contain(own);
    expect(site.host.logged.some((line) => line.includes('"backup_downloaded"'))).to.equal(true);
  });

  it('lets no cache store what a user sees', async () => {
    const pages = pathsOf((await browser.get('/admin/')).html);
    expect(pages.length).to.be.above(15);
    for (const path of ['/admin/login', ...pages])
      expect((await site.open().get(path)).headers.get('cache-control'), path).to.contain('no-store');
    for (const path of pages)
      expect((await browser.get(path)).headers.get('cache-control'), path).to.contain('no-store');
    for (const path of [
      '/',
      '/wp/v2/users/me',
      '/wp/v2/posts?context=edit',
      '/wp/v2/settings',
      '/host/v1/routes',
      '/no',
    ]) {
      const { headers } = await site.host.fetch(`/wp-json${path}`, { headers: { authorization } });
      expect(headers.get('cache-control'), path).to.contain('no-store').and.contain('private');
    }
  });

  it('serves others while 900 connections wait half-open', async function () {
    this.timeout(60_000);
    const heads = ['', 'GET', 'GET / HTTP/1.1\r\n', 'GET / HTTP/1.1\r\nHost: a\r\nX-A: '];
    const open = Array.from({ length: 900 }, (_, n) => sendRaw(site.host.url, heads[n % heads.length] ?? ''));
    try {
      await Promise.all(
        open.map(
          ({ socket }) =>
            new Promise<void>((resolve) => (socket.connecting ? void socket.once('connect', resolve) : resolve())),
        ),
      );
      for (let round = 0; round < 10; round += 1)
        for (const path of ['/healthz', '/', '/wp-json/wp/v2/posts'])
          expect((await site.host.fetch(path)).status, path).to.equal(200);
      expect(open.filter(({ socket }) => socket.destroyed)).to.have.length(0);
    } finally {
      for (const { socket } of open) socket.destroy();
    }
  });
});
