import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import { Client } from 'pg';
import type { Clock } from '#plugin-api';
import { createSystemClock } from '../../host/clock.ts';
import { createFakeClock } from '../../host/testing/fake-clock.ts';
import { createTestHost, type TestHost } from '../../host/testing/test-host.ts';
import { breakDatabase } from '../helpers/break-database.ts';
import { goodRequest, startService, type Service, type ServiceInit } from '../contract/service.ts';
import { describeHosts, sharedSite } from '../helpers/dialects.ts';
import { createMigratedPostgres } from '../helpers/migrated.ts';
import { startOwnPostgres } from '../helpers/postgres.ts';
import { createSilentProxy } from '../helpers/silent-proxy.ts';
import { becomes, until } from '../helpers/until.ts';

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

describe('a site whose PostgreSQL stops to respond', () => {
  const key = 'a key for the logs';
  const paths = ['/', '/wp-json/wp/v2/posts', '/wp-json/svc/v1/logs', '/admin/login'];
  const open = async (databaseUrl: string, clock: Clock): Promise<TestHost> => {
    const env = { SECRET_KEY: '0'.repeat(64) };
    const host = await createTestHost({ plugins: ['svc'], database: databaseUrl, clock, env });
    await host.options.update('svc_api_key', host.secrets.encrypt(key));
    return host;
  };
  const send = (host: TestHost, path: string, method = 'GET'): Promise<Response> =>
    fetch(new URL(path, host.url), {
      ...{ method, headers: { authorization: `Bearer ${key}` }, signal: AbortSignal.timeout(30_000) },
    });

  it('answers 503 with Retry-After, keeps its plugins, and works again with it', async () => {
    const server = await startOwnPostgres();
    const processes = await watchProcesses(server.url);
    const host = await open(server.url, createSystemClock());
    try {
      for (const path of paths) expect((await send(host, path)).status, path).to.equal(200);
      await processes.stop();
      try {
        for (const copies of [1, 5]) {
          const all = Array.from({ length: copies }, () => paths).flat();
          for (const { url, status, headers } of await Promise.all(all.map((path) => send(host, path))))
            expect([url, status, headers.get('retry-after')]).to.deep.equal([url, 503, '5']);
        }
      } finally {
        processes.go();
      }
      await until('all works', async () => {
        const responses = await Promise.all(paths.map((path) => send(host, path)));
        return responses.every(({ status }) => status === 200);
      });
      expect(host.plugins.list().map(({ state, lastError }) => [state, lastError])).to.deep.equal([['active', null]]);
    } finally {
      await host.stop();
      await processes.close();
      await server.stop();
    }
  }).timeout(120_000);

  it('obeys a key that is revoked meanwhile for a minute at most, and knows it when the network is back', async () => {
    const { url, drop } = await createMigratedPostgres();
    const proxy = await createSilentProxy({ host: '127.0.0.1', port: Number(new URL(url).port) });
    const through = new URL(url);
    Object.assign(through, { hostname: '127.0.0.1', port: String(proxy.port) });
    const clock = createFakeClock();
    const host = await open(through.href, clock);
    const other = new Client({ connectionString: url });
    try {
      // Needs the key, and then no database.
      const path = '/wp-json/svc/v1/generate';
      const generate = (): Promise<Response> => send(host, path, 'POST');
      expect((await generate()).status).to.equal(400);
      const restore = proxy.isolate();
      await other.connect();
      await other.query("UPDATE options SET value = '\"\"' WHERE name = 'svc_api_key'");
      expect((await generate()).status, 'for a minute').to.equal(400);
      await clock.advance(60_000);
      const response = await generate();
      expect([response.status, response.headers.get('retry-after')]).to.deep.equal([503, '5']);
      restore();
      await until('the key is refused', async () => {
        await clock.advance(200);
        return (await generate()).status === 401;
      });
    } finally {
      await other.end();
      await host.stop();
      await proxy.close();
      await drop();
    }
  }).timeout(120_000);
});

describeHosts('calls that the ledger cannot store before a stop', ({ location }) => {
  const folder = (): string => join(location().dataDir, 'usage-spool');
  const rowsOf = ({ host }: Service) => host.database.knex('svc_usage').pluck('outcome') as Promise<string[]>;
  const callsOf = async ({ host }: Service) =>
    (await host.database.knex('svc_usage_days').sum({ calls: 'calls' })).map(({ calls }) => Number(calls));
  const lines = ({ host }: Service, event: string) =>
    host.logged.map((line) => JSON.parse(line) as Record<string, unknown>).filter((line) => line['event'] === event);

  /** Three calls while the database is away, and the stop of the site, which is returned. */
  async function stopDuringOutage(site: ServiceInit): Promise<Service> {
    const service = await startService(site);
    expect((await service.generate(goodRequest)).status).to.equal(200);
    await until('the call before', async () => {
      await service.clock.advance(1_000);
      return (await rowsOf(service)).length === 1;
    });
    const repair = await breakDatabase(location());
    try {
      for (let count = 0; count < 3; count += 1) expect((await service.generate(goodRequest)).status).to.equal(200);
      await service.stop();
    } finally {
      await repair();
    }
    return service;
  }

  it('are kept in a file of the owner, and stored by the next start, each once', async () => {
    const site = sharedSite(location());
    const stopped = await stopDuringOutage(site);
    expect(lines(stopped, 'usage_kept')).to.have.length(1);
    expect(lines(stopped, 'usage_lost')).to.deep.equal([]);
    const [file = '', ...others] = await readdir(folder());
    expect(others).to.deep.equal([]);
    const path = join(folder(), file);
    expect((await stat(path)).mode & 0o777).to.equal(0o600);
    const kept = await readFile(path);
    const mark = `svc_usage_spool_${basename(file, '.json')}`;
    // One that was cut, and one of another version.
    await writeFile(join(folder(), 'damaged.json'), kept.subarray(0, 20));
    await writeFile(join(folder(), 'other.json'), String(kept).replaceAll('"outcome"', '"result"'));
    const nodes = await Promise.all([startService(site), startService(site)]);
    const [first] = nodes;
    const setAside = ['damaged.json.unreadable', 'other.json.unreadable'];
    await becomes(async () => (await readdir(folder())).sort(), setAside);
    await until('they are named', () => nodes.flatMap((node) => lines(node, 'usage_set_aside')).length === 2);
    for (const name of setAside) await rm(join(folder(), name));
    expect(await rowsOf(first)).to.have.length(4);
    expect(await callsOf(first)).to.deep.equal([4]);
    await Promise.all(nodes.map((node) => node.stop()));
    // As if the process had ended between the commit and the removal.
    await writeFile(path, kept);
    const plain = await createTestHost(site);
    await plain.options.add(mark, 1, { autoload: false });
    await plain.stop();
    const again = await startService(site);
    await until('the file is removed again', async () => (await readdir(folder())).length === 0);
    expect(await rowsOf(again)).to.have.length(4);
    await until('the mark is removed', async () => (await again.host.options.get(mark)) === false);
    await again.stop();
  }).timeout(120_000);

  it('are counted and priced in the log where there is no file either', async () => {
    await writeFile(folder(), 'not a folder');
    const stopped = await stopDuringOutage(sharedSite(location()));
    const [lost] = lines(stopped, 'usage_lost');
    expect(lost).to.include({ calls: 3 });
    expect(lost?.['cost_usd']).to.be.above(0);
  }).timeout(120_000);
});

/** The processes of a PostgreSQL of this machine, which can be stopped as a whole. */
async function watchProcesses(url: string) {
  const other = new Client({ connectionString: url });
  await other.connect();
  let found: readonly number[] = [];
  return {
    async stop() {
      const postmaster = `(string_to_array(pg_read_file('postmaster.pid'), E'\\n'))[1]::int`;
      const { rows } = await other.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity UNION SELECT ${postmaster}`,
      );
      found = rows.map(({ pid }) => pid);
      for (const pid of found) process.kill(pid, 'SIGSTOP');
    },
    go: () => found.forEach((pid) => process.kill(pid, 'SIGCONT')),
    close: () => other.end(),
  };
}
