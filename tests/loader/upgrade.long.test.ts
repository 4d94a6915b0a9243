import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readConfig } from '../../host/start/config.ts';
import { createHost, type Host } from '../../host/host.ts';
import { describeDialects } from '../helpers/dialects.ts';
import { failureOf as thrownBy } from '../helpers/failure-of.ts';
import { pluginFiles, writeZip } from './helpers/zips.ts';

const failureOf = async (work: Promise<unknown>): Promise<Error> => (await thrownBy(work)) as Error;

/** A table of notes with one row in it. */
const first = `{ id: '0001_notes', async up(knex) {
  await knex.schema.createTable('sample_notes', (table) => { table.increments('id'); table.string('text', 100); });
  await knex('sample_notes').insert({ text: 'kept' });
} }`;
const second = `{ id: '0002_colour', async up(knex) {
  await knex.schema.alterTable('sample_notes', (table) => table.string('colour', 20));
  await knex('sample_notes').update({ colour: 'red' });
} }`;
const failing = `{ id: '0003_wrong', async up() { throw new Error('the third step is wrong'); } }`;

const entry = (migrations: readonly string[], more = ''): string =>
  `export default { migrations: [${migrations.join(',')}], register(host) {}, ${more} };`;

describeDialects('upgrading a plugin', (_open, { location }) => {
  let place: string;
  let plugins: string;
  const hosts: Host[] = [];
  beforeEach(async () => {
    place = await mkdtemp(join(tmpdir(), 'upgrade-'));
    plugins = join(place, 'plugins');
    await put('1.0.0', entry([first]));
  });
  afterEach(async () => {
    for (const host of hosts.splice(0)) await host.stop();
    await rm(place, { recursive: true, force: true });
  });

  let puts = 0;
  /** Each under a new name of its entry: to this process, in which hosts come and go, Node keeps modules by their path. */
  async function put(version: string, code: string): Promise<void> {
    const folder = join(plugins, 'sample');
    const main = `index-${(puts += 1)}.js`;
    await mkdir(folder, { recursive: true });
    for (const [name, content] of Object.entries({ ...pluginFiles({ version, main }, ''), [main]: code }))
      await writeFile(join(folder, name), content);
  }
  const zip = (version: string, code: string): Promise<string> =>
    writeZip({ file: join(place, `${version}.zip`), contents: pluginFiles({ version }, code) });
  async function open(): Promise<Host> {
    const { databaseUrl } = location();
    const config = readConfig({
      DATA_DIR: join(place, 'data'),
      PLUGIN_DIRS: plugins,
      PORT: '0',
      SECRET_KEY: 'a key for tests alone',
      LOG_LEVEL: 'silent',
      ...(databaseUrl !== null && { DATABASE_URL: databaseUrl }),
    });
    const host = await createHost({ config });
    hosts.push(host);
    return host;
  }
  async function reopen(host: Host): Promise<Host> {
    await host.stop();
    hosts.splice(hosts.indexOf(host), 1);
    return open();
  }
  const statusOf = (host: Host): string =>
    host.plugins
      .list()
      .map(({ slug, version, state }) => `${slug} ${version} ${state}`)
      .join();
  const notes = (host: Host): Promise<unknown[]> => host.database.knex('sample_notes').select('*').orderBy('id');
  const applied = async (host: Host): Promise<string[]> =>
    (await host.database.migrationStatus()).filter(({ owner }) => owner === 'sample').map(({ id }) => id);
  const backups = (): Promise<string[]> => readdir(join(place, 'data', 'backups')).catch(() => []);

  it('backs up, migrates and runs its upgrade when a newer version lies there at the start', async () => {
    let host = await open();
    await host.plugins.activate('sample');
    expect(await host.options.get('plugin_versions')).to.deep.equal({ sample: '1.0.0' });
    await put(
      '1.1.0',
      entry(
        [first, second],
        `async upgrade(host, { from, to }) { await host.options.update('sample_upgraded', from + ' ' + to); }`,
      ),
    );
    host = await reopen(host);
    expect(statusOf(host)).to.equal('sample 1.1.0 active');
    expect(await notes(host)).to.deep.equal([{ id: 1, text: 'kept', colour: 'red' }]);
    expect(await host.options.get('sample_upgraded')).to.equal('1.0.0 1.1.0');
    expect(await host.options.get('plugin_versions')).to.deep.equal({ sample: '1.1.0' });
    expect(await backups()).to.have.length(1);
    expect((await backups())[0]).to.match(/^sample-1\.0\.0-1\.1\.0-\d{8}T\d{9}Z\.jsonl\.gz$/);
    host = await reopen(host);
    expect(await backups()).to.have.length(1);
  });

  it('makes no backup where no table changes', async () => {
    let host = await open();
    await host.plugins.activate('sample');
    await put('1.0.1', entry([first]));
    host = await reopen(host);
    expect(statusOf(host)).to.equal('sample 1.0.1 active');
    expect(await backups()).to.deep.equal([]);
  });

  it('leaves data, version and folder as they were when a later migration fails, and runs the old version on', async () => {
    const host = await open();
    await host.plugins.activate('sample');
    const { message } = await failureOf(
      host.plugins.install({ path: await zip('2.0.0', entry([first, second, failing])) }),
    );
    expect(message).to.match(
      /^Failed to upgrade the plugin 'sample' from 1\.0\.0 to 2\.0\.0: .*the third step is wrong/,
    );
    expect(message).to.match(
      /The folder and the database were restored, and version 1\.0\.0 runs again\. The backup is .*sample-1\.0\.0-2\.0\.0-/,
    );
    expect(statusOf(host)).to.equal('sample 1.0.0 active');
    expect(await notes(host)).to.deep.equal([{ id: 1, text: 'kept' }]);
    expect(await applied(host)).to.deep.equal(['0001_notes']);
    expect(await host.options.get('plugin_versions')).to.deep.equal({ sample: '1.0.0' });
    expect(await readdir(plugins)).to.deep.equal(['sample']);
    expect(statusOf(await reopen(host))).to.equal('sample 1.0.0 active');
  });

  for (const [where, more] of [
    [
      'its upgrade',
      `async upgrade(host) { await host.options.update('sample_upgraded', 'yes'); throw new Error('not like this'); }`,
    ],
    ['register', `register() { throw new Error('not like this'); }`],
  ] as const) {
    it(`takes the migrations back with what ${where} did when that fails`, async () => {
      const host = await open();
      await host.plugins.activate('sample');
      const code = `const definition = ${entry([first, second]).replace('export default ', '').replace(/;$/, '')}; export default { ...definition, ${more} };`;
      expect((await failureOf(host.plugins.install({ path: await zip('2.0.0', code) }))).message).to.contain(
        'not like this',
      );
      expect(await notes(host)).to.deep.equal([{ id: 1, text: 'kept' }]);
      expect(await host.options.get('sample_upgraded')).to.equal(false);
      expect(statusOf(host)).to.equal('sample 1.0.0 active');
      await host.plugins.install({ path: await zip('2.0.1', entry([first, second])) });
      expect(await notes(host)).to.deep.equal([{ id: 1, text: 'kept', colour: 'red' }]);
      expect(statusOf(host)).to.equal('sample 2.0.1 active');
    });
  }

  it('quarantines a version that fails at the start; the old one can be restored and runs again', async () => {
    let host = await open();
    await host.plugins.activate('sample');
    await put('2.0.0', entry([first, second, failing]));
    host = await reopen(host);
    const [status] = host.plugins.list();
    expect(status?.state).to.equal('failed');
    expect(status?.failure?.message).to.match(
      /^Failed to upgrade from 1\.0\.0 to 2\.0\.0: .* The database was rolled back; restore version 1\.0\.0/,
    );
    await put('1.0.0', entry([first]));
    await host.plugins.activate('sample');
    expect(await notes(host)).to.deep.equal([{ id: 1, text: 'kept' }]);
  });

  it('refuses an older version than has run, names both and the backup, and that brings it back', async () => {
    let host = await open();
    await host.plugins.activate('sample');
    await put('1.1.0', entry([first, second]));
    host = await reopen(host);
    await host.database.knex('sample_notes').insert({ text: 'later' });
    await put('1.0.0', entry([first]));
    host = await reopen(host);
    const { state, failure } = host.plugins.list()[0] ?? {};
    expect([state, failure?.stage]).to.deep.equal(['failed', 'version']);
    const told =
      /^Version 1\.0\.0 is installed, but version 1\.1\.0 has run on this site; install 1\.1\.0 or newer, or restore the backup \(npm run cli -- db restore (.+)\)\.$/.exec(
        failure?.message ?? '',
      );
    expect(told, failure?.message).not.to.equal(null);
    const { readMigrations } = await import('../../host/loader/load.ts');
    for (const [slug, migrations] of await readMigrations({ pluginDirs: [plugins], hostVersion: '1.0.0' }))
      host.database.declareMigrations(slug, migrations);
    await host.database.restore(told?.[1] ?? '');
    host = await reopen(host);
    expect(statusOf(host)).to.equal('sample 1.0.0 active');
    expect(await notes(host)).to.deep.equal([{ id: 1, text: 'kept' }]);
  });

  it('keeps the last five backups', async () => {
    const host = await open();
    await host.plugins.activate('sample');
    const steps = Array.from({ length: 7 }, (_, index) => `{ id: '000${index + 2}_step', async up() {} }`);
    for (const [index] of steps.entries())
      await host.plugins.install({ path: await zip(`1.${index + 1}.0`, entry([first, ...steps.slice(0, index + 1)])) });
    expect((await backups()).sort().map((name) => name.split('-').slice(1, 3).join(' '))).to.deep.equal([
      '1.2.0 1.3.0',
      '1.3.0 1.4.0',
      '1.4.0 1.5.0',
      '1.5.0 1.6.0',
      '1.6.0 1.7.0',
    ]);
  });

  it('of two nodes that start with the new version at once, one upgrades', async () => {
    const host = await open();
    await host.plugins.activate('sample');
    await host.stop();
    hosts.length = 0;
    await put(
      '1.1.0',
      entry(
        [first, second],
        `async upgrade(host) { await host.database.knex('sample_notes').insert({ text: 'upgraded' }); }`,
      ),
    );
    const [one, other] = await Promise.all([open(), open()]);
    expect([statusOf(one), statusOf(other)]).to.deep.equal(['sample 1.1.0 active', 'sample 1.1.0 active']);
    expect((await notes(one)).map((note) => (note as { text: string }).text)).to.deep.equal(['kept', 'upgraded']);
  });
});

describeDialects('a site whose tables cannot be brought up to date', (open, { directory }) => {
  it('does not start, is as before, and says so with the backup', async () => {
    const { createBackups } = await import('../../host/backups.ts');
    const { migrateHost } = await import('../../host/core.ts');
    const { createSystemClock } = await import('../../host/clock.ts');
    const { silentLog } = await import('../helpers/silent-log.ts');
    const database = await open({ log: silentLog });
    const backups = createBackups({ database, dataDir: directory() });
    const clock = createSystemClock();
    const table = {
      id: '0001_first',
      up: async (knex: typeof database.knex) =>
        void (await knex.schema.createTable('things', (made) => void made.string('name', 20))),
    };
    const column = {
      id: '0002_column',
      up: async (knex: typeof database.knex) =>
        void (await knex.schema.alterTable('things', (made) => void made.string('colour', 20))),
    };
    const wrong = { id: '0003_wrong', up: async () => Promise.reject(new Error('the third is wrong')) };
    await migrateHost({ database, backups, clock, migrations: [table] });
    expect(await backups.last('host')).to.equal(null);
    await database.knex('things').insert({ name: 'cup' });
    const { message } = await failureOf(migrateHost({ database, backups, clock, migrations: [table, column, wrong] }));
    expect(message).to.match(
      /^The site was not started\. The migration '0003_wrong' of 'host' failed and was rolled back: the third is wrong The database is unchanged: .* A backup was saved as .*host-0002_column-/,
    );
    expect(await database.knex('things').select('*')).to.deep.equal([{ name: 'cup' }]);

    await migrateHost({ database, backups, clock, migrations: [table, column] });
    const newer = await failureOf(migrateHost({ database, backups, clock, migrations: [table] }));
    const backup = await backups.last('host');
    expect(newer.message)
      .to.match(/^The site was not started\. The database is newer than this code/)
      .and.contain(`npm run cli -- db restore ${backup}`);
    database.declareMigrations('host', [table]);
    await database.restore(backup ?? '');
    expect(await database.knex('things').select('*')).to.deep.equal([{ name: 'cup' }]);
    await migrateHost({ database, backups, clock, migrations: [table] });
  });
});
