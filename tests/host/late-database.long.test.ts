import { spawnSync } from 'node:child_process';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { createPostgresDatabase, type PostgresDatabase } from '../helpers/postgres.ts';
import { startSite } from '../helpers/running-site.ts';

describe('a site whose PostgreSQL is not there yet', () => {
  let database: PostgresDatabase;
  let server: Server;
  let sockets: Socket[];
  /** Whether connections reach PostgreSQL. Else they are cut, as by a server that starts. */
  let isUp: boolean;
  let url: URL;

  beforeEach(async () => {
    database = await createPostgresDatabase();
    isUp = false;
    sockets = [];
    const target = new URL(database.url);
    const [host, port] = [decodeURIComponent(target.hostname), Number(target.port)];
    server = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      if (!isUp) return void socket.destroy();
      const upstream = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${String(port)}`) : connect(port, host);
      upstream.on('error', () => socket.destroy());
      socket.pipe(upstream).pipe(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = new URL(database.url);
    url.hostname = '127.0.0.1';
    url.port = String((server.address() as AddressInfo).port);
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
    await database.drop();
  });

  it('waits for it, says so once, and is ready with all of its tables', async function () {
    this.timeout(120_000);
    const starting = startSite({ DATABASE_URL: url.href });
    await new Promise<void>((resolve) => {
      let tries = 0;
      server.on('connection', () => {
        tries += 1;
        if (tries === 2) {
          isUp = true;
          resolve();
        }
      });
    });
    const site = await starting;
    try {
      expect(site.output().match(/"event":"database_awaited"/g)).to.have.length(1);
      expect(site.output()).to.not.include('database_connection_warning');
      expect((await fetch(`${site.url}/readyz`)).status).to.equal(200);
      expect((await fetch(`${site.url}/wp-json/wp/v2/posts`)).status).to.equal(200);
    } finally {
      await site.stop();
    }
  });

  const start = (env: Readonly<Record<string, string>>) =>
    spawnSync(process.execPath, ['host/main.js'], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], PORT: '0', DATA_DIR: ':memory:', ...env },
    });

  it('ends at once where waiting cannot help, or is switched off', () => {
    const missing = new URL(database.url);
    missing.pathname = '/no_such_database';
    const { status, stderr, stdout } = start({ DATABASE_URL: missing.href });
    expect([status, stderr + stdout]).to.satisfy(
      ([code, text]: readonly [number, string]) => code === 1 && text.includes('does not respond (3D000)'),
    );
    const closed = start({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/site', DATABASE_WAIT_SECONDS: '0' });
    expect(closed.status).to.equal(1);
    expect(closed.stderr + closed.stdout).to.include('does not respond (ECONNREFUSED)');
    expect(closed.stderr + closed.stdout).to.not.include('database_awaited');
  });
});
