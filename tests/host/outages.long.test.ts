import { expect } from 'chai';
import { createSystemClock } from '../../host/clock.ts';
import { createTestHost, type TestHost } from '../../host/testing/test-host.ts';
import { breakDatabase } from '../helpers/break-database.ts';
import { describeHosts } from '../helpers/dialects.ts';

describeHosts('a site whose database cannot be used', ({ dialect, location }) => {
  let host: TestHost;
  beforeEach(async () => {
    const { databaseUrl, dataDir } = location();
    host = await createTestHost({
      plugins: ['svc'],
      database: databaseUrl ?? dataDir,
      clock: createSystemClock(),
      env: { SECRET_KEY: '0'.repeat(64) },
    });
  });
  afterEach(() => host.stop());

  it('answers 503 with Retry-After, and works again afterwards', async () => {
    const key = 'a key for the logs';
    await host.options.update('svc_api_key', host.secrets.encrypt(key));
    const address = host.url.replace(/\/$/, '');
    const form = (body: Record<string, string>): RequestInit => ({ method: 'POST', body: new URLSearchParams(body) });
    const read = (path: string): Promise<Response> =>
      fetch(address + path, { headers: { authorization: `Bearer ${key}` } });
    const login = ['/admin/login', form({ login: 'nobody', password: 'wrong wrong' })] as const;
    const forgotten = ['/admin/forgot-password', form({ login: 'nobody' })] as const;
    const reads = ['/', '/wp-json/wp/v2/posts', '/wp-json/wp/v2/media', '/wp-json/svc/v1/logs', '/admin/login'];
    const requests: readonly (readonly [path: string, init?: RequestInit])[] =
      dialect === 'sqlite'
        ? [login, forgotten]
        : [['/'], ['/wp-json/wp/v2/posts'], ['/wp-json/wp/v2/media'], login, forgotten];
    const repair = await breakDatabase(location());
    try {
      for (const [path, init] of requests) {
        const response = await fetch(address + path, init);
        const text = await response.text();
        expect([path, response.status, response.headers.get('retry-after')], text).to.deep.equal([path, 503, '5']);
        if (path.startsWith('/wp-json')) expect(JSON.parse(text)).to.have.property('code', 'rest_service_unavailable');
      }
      if (dialect === 'sqlite') {
        // Others wait for the lock meanwhile.
        const writes = [1, 2, 3].map(() => fetch(address + login[0], login[1]));
        for (const path of reads) expect((await read(path)).status, path).to.equal(200);
        for (const { status } of await Promise.all(writes)) expect(status).to.equal(503);
      }
    } finally {
      await repair();
    }
    for (const path of reads) expect((await read(path)).status, path).to.equal(200);
  }).timeout(60_000);
});
