import { expect } from 'chai';
import { createTestHost, type TestHost } from '#testing';

describe('routes that say which origins may call them', () => {
  let host: TestHost;
  before(async () => {
    host = await createTestHost();
    host.rest.registerRoute('test/v1', '/open/{id}', {
      methods: ['POST'],
      allowOrigin: (origin, { id }) => {
        if (origin === 'https://broken.test') throw new Error('Out of order.');
        return origin === `https://${String(id)}.test`;
      },
      handler: async (request) => ({ user: (await request.pageUser()).id }),
    });
    host.rest.registerRoute('test/v1', '/plain', { handler: () => true });
    await host.options.update('rest_allowed_origins', ['https://partner.test']);
  });
  after(() => host.stop());

  const corsOf = async (
    path: string,
    init: RequestInit & { origin: string },
  ): Promise<Record<string, string | null>> => {
    const { headers } = await host.fetch(`/wp-json/test/v1${path}`, { ...init, headers: { origin: init.origin } });
    return Object.fromEntries(
      ['origin', 'methods', 'credentials'].map((name) => [name, headers.get(`access-control-allow-${name}`)]),
    );
  };
  const nothing = { origin: null, methods: null, credentials: null };

  it('replace the setting, for preflights too, and never allow cookies', async () => {
    for (const method of ['POST', 'OPTIONS', 'GET']) {
      expect(await corsOf('/open/shop', { method, origin: 'https://shop.test' }), method).to.deep.equal({
        origin: 'https://shop.test',
        methods: 'OPTIONS, GET, POST, PUT, PATCH, DELETE',
        credentials: null,
      });
      for (const origin of ['https://partner.test', 'https://other.test', 'https://broken.test'])
        expect(await corsOf('/open/shop', { method, origin }), `${method} ${origin}`).to.deep.equal(nothing);
    }
    expect((await corsOf('/plain', { origin: 'https://partner.test' }))['credentials']).to.equal('true');
    expect(await corsOf('/plain', { origin: 'https://shop.test' })).to.deep.equal(nothing);
  });

  it('know the user of the session’s cookie on the site’s own pages alone', async () => {
    const user = await host.users.create({ login: 'ada', email: 'ada@example.com', password: 'a long password' });
    const login = await host.fetch('/admin/login', {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ login: 'ada', password: 'a long password' }),
    });
    const cookie =
      login.headers
        .getSetCookie()
        .find((one) => one.startsWith('svc_session='))
        ?.split(';', 1)[0] ?? '';
    const idFor = async (headers: Record<string, string>): Promise<number> =>
      (
        (await (
          await host.fetch('/wp-json/test/v1/open/shop', { method: 'POST', headers: { cookie, ...headers } })
        ).json()) as { user: number }
      ).user;
    expect(await idFor({ origin: host.url })).to.equal(user.id);
    expect(await idFor({ origin: host.url, 'sec-fetch-site': 'same-origin' })).to.equal(user.id);
    for (const headers of [
      {},
      { origin: 'https://shop.test' },
      { origin: 'null' },
      { referer: `${host.url}/` },
      { origin: host.url, 'sec-fetch-site': 'same-site' },
      { origin: host.url, cookie: 'svc_session=nonsense' },
    ] as Record<string, string>[]) {
      expect(await idFor(headers), JSON.stringify(headers)).to.equal(0);
    }
  });
});
