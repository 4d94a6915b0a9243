import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { createSystemClock } from '../../host/clock.ts';
import { openDatabase, type Database } from '../../host/database/database.ts';
import { readConfig } from '../../host/start/config.ts';
import { makeCertificate } from '../helpers/certificate.ts';
import { createPostgresDatabase, type PostgresDatabase } from '../helpers/postgres.ts';
import { failureOf } from '../helpers/failure-of.ts';
import { startSite, type RunningSite } from '../helpers/running-site.ts';
import { silentLog } from '../helpers/silent-log.ts';
import { until } from '../helpers/until.ts';
import { startPgbouncer, type Pooler } from './pgbouncer.ts';

const administrator = {
  ADMIN_USER: 'admin',
  ADMIN_EMAIL: 'admin@example.test',
  ADMIN_PASSWORD: 'a long password of tests',
};

describe('a database behind PgBouncer', () => {
  let direct: PostgresDatabase;
  let pooler: Pooler;
  let opened: Database[] = [];
  let sites: RunningSite[] = [];

  beforeEach(async () => {
    direct = await createPostgresDatabase();
  });
  afterEach(async function () {
    this.timeout(60_000);
    for (const site of sites) await site.stop();
    for (const database of opened) await database.close();
    [opened, sites] = [[], []];
    await pooler.stop();
    await direct.drop();
  });

  const open = async (databaseUrl: string, databaseDirectUrl: string | null = null): Promise<Database> => {
    const parts = { databaseUrl, databaseDirectUrl, dataDir: ':memory:', clock: createSystemClock(), log: silentLog };
    const database = await openDatabase(parts);
    opened.push(database);
    return database;
  };

  it('in transaction mode is refused with the variable that helps, before a notification is lost', async () => {
    for (const size of [20, 1]) {
      pooler = await startPgbouncer(direct.url, { mode: 'transaction', size });
      const database = await open(pooler.url);
      expect(await failureOf(database.listen('news', () => undefined))).to.have.property(
        'message',
        `The database at ${new URL(pooler.url).host}${new URL(pooler.url).pathname} is behind a pooler that keeps no ` +
          'sessions (transaction mode). Set DATABASE_DIRECT_URL to the address of PostgreSQL itself, which notifications and locks need.',
      );
      await database.close();
      opened = [];
      await pooler.stop();
    }
    pooler = await startPgbouncer(direct.url, { mode: 'transaction' });
    const wrong = await open(pooler.url, pooler.url);
    expect(((await failureOf(wrong.listen('news', () => undefined))) as Error).message).to.include(
      'DATABASE_DIRECT_URL leads to a pooler that keeps no sessions',
    );
    const other = await createPostgresDatabase();
    const elsewhere = await open(pooler.url, other.url);
    expect(((await failureOf(elsewhere.listen('news', () => undefined))) as Error).message).to.equal(
      'DATABASE_DIRECT_URL leads to another database than DATABASE_URL. Use the address of the same one.',
    );
    await elsewhere.close();
    opened = opened.filter((each) => each !== elsewhere);
    await other.drop();
  });

  it('is trusted by the authority that DATABASE_CA names, and by no other', async () => {
    const tls = makeCertificate();
    pooler = await startPgbouncer(direct.url, { mode: 'session', tls });
    const file = join(await mkdtemp(join(tmpdir(), 'svc-ca-')), 'ca.pem');
    await writeFile(file, tls.cert);
    const trusting = readConfig({ DATABASE_URL: pooler.url, DATABASE_CA: file });
    expect((await (await open(trusting.databaseUrl!)).knex.raw('SELECT 1 AS one')).rows).to.deep.equal([{ one: 1 }]);
    const checking = `${pooler.url}?sslmode=verify-full`;
    expect(((await failureOf(open(checking))) as Error).message).to.match(/does not respond \(.*SELF_SIGNED/);
    await rm(dirname(file), { recursive: true });
  });

  it('in session mode needs nothing', async () => {
    pooler = await startPgbouncer(direct.url, { mode: 'session' });
    const database = await open(pooler.url);
    const heard: string[] = [];
    await database.listen('news', (text) => void heard.push(text));
    await database.notify('news', 'now');
    await until('the notification', () => heard.length > 0);
    expect(heard).to.deep.equal(['now']);
  });

  it('in transaction mode serves two nodes that hear of each other, with the address past it', async function () {
    this.timeout(120_000);
    pooler = await startPgbouncer(direct.url, { mode: 'transaction' });
    const env = {
      ...administrator,
      DATABASE_URL: pooler.url,
      DATABASE_DIRECT_URL: direct.url,
      SECRET_KEY: 'a key of sixteen characters',
    };
    sites = [await startSite(env), await startSite(env)];
    const [first, second] = sites as [RunningSite, RunningSite];
    await first.cli('option', 'set', 'blogname', '"Pooled"');
    await until('both nodes have the new name', async () => {
      const pages = await Promise.all([first, second].map(async ({ url }) => (await fetch(url)).text()));
      return pages.every((page) => page.includes('Pooled'));
    });
    for (let round = 0; round < 50; round += 1) {
      const responses = await Promise.all(
        Array.from({ length: 20 }, (_, index) => fetch(`${sites[index % 2]!.url}/wp-json/wp/v2/posts`)),
      );
      expect(responses.map(({ status }) => status)).to.deep.equal(Array.from({ length: 20 }, () => 200));
    }
    expect(await first.cli('doctor')).to.not.include('pooler');
    // A busy machine may hold the event loop up: that says nothing about the pooler.
    const warnings = (first.output() + second.output())
      .split('\n')
      .filter((line) => /"level":"(?:error|warn)"/.test(line) && !line.includes('"event":"event_loop_blocked"'));
    expect(warnings).to.deep.equal([]);
  });
});
