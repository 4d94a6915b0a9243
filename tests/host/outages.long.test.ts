import { join } from 'node:path';
import BetterSqlite from 'better-sqlite3';
import { expect } from 'chai';
import { Client } from 'pg';
import { createSystemClock } from '../../host/clock.ts';
import { createTestHost, type TestHost } from '../../host/testing/test-host.ts';
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

  /** The database refuses to write, or on PostgreSQL to do anything. Undone by the returned function. */
  async function breakDatabase(): Promise<() => Promise<void>> {
    const { databaseUrl, dataDir } = location();
    if (databaseUrl === null) {
      const other = new BetterSqlite(join(dataDir, 'site.sqlite'));
      other.exec('BEGIN IMMEDIATE');
      return async () => void other.close();
    }
    const url = new URL(databaseUrl);
    const name = url.pathname.slice(1);
    url.pathname = '/postgres';
    const other = new Client({ connectionString: url.href });
    await other.connect();
    await other.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    await other.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
    return async () => {
      await other.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
      await other.end();
    };
  }

  it('answers 503 with Retry-After, and works again afterwards', async () => {
    const address = host.url.replace(/\/$/, '');
    const form = (body: Record<string, string>): RequestInit => ({ method: 'POST', body: new URLSearchParams(body) });
    const requests: readonly (readonly [path: string, init?: RequestInit])[] =
      dialect === 'sqlite'
        ? [['/admin/login', form({ login: 'nobody', password: 'wrong wrong' })]]
        : [
            ['/'],
            ['/wp-json/wp/v2/posts'],
            ['/wp-json/wp/v2/media'],
            ['/admin/login', form({ login: 'nobody', password: 'wrong wrong' })],
          ];
    const repair = await breakDatabase();
    try {
      for (const [path, init] of requests) {
        const response = await fetch(address + path, init);
        const text = await response.text();
        expect([path, response.status, response.headers.get('retry-after')], text).to.deep.equal([path, 503, '5']);
        if (path.startsWith('/wp-json')) expect(JSON.parse(text)).to.have.property('code', 'rest_service_unavailable');
      }
      if (dialect === 'sqlite') expect((await fetch(address)).status).to.equal(200);
    } finally {
      await repair();
    }
    for (const path of ['/', '/wp-json/wp/v2/posts']) expect((await fetch(address + path)).status, path).to.equal(200);
  }).timeout(60_000);
});
