import { join } from 'node:path';
import BetterSqlite from 'better-sqlite3';
import { expect } from 'chai';
import { Client } from 'pg';
import { createSystemClock } from '../../host/clock.ts';
import { createTestHost, type TestHost } from '../../host/testing/test-host.ts';
import type { HostApi } from '#plugin-api';
import { describeHosts } from '../helpers/dialects.ts';
import { until } from '../helpers/until.ts';
import { createPluginFolders, type PluginFolders } from './helpers/plugin-folders.ts';

const world = globalThis as { registersFaulty?: (host: HostApi) => Promise<unknown> };
const code = `export default { async register(host) { await globalThis.registersFaulty?.(host); host.hooks.addFilter('faulty', () => 'runs'); } };`;

describeHosts('an outage of the database while a plugin registers', ({ dialect, location }) => {
  let folders: PluginFolders;
  const hosts: TestHost[] = [];
  beforeEach(async () => {
    folders = await createPluginFolders();
    await folders.write('faulty', { files: { 'index.js': code } });
  });
  afterEach(async () => {
    delete world.registersFaulty;
    for (const host of hosts.splice(0)) await host.stop();
    await folders.remove();
  });
  const open = async (): Promise<TestHost> => {
    const { databaseUrl, dataDir } = location();
    const host = await createTestHost({
      plugins: 'found',
      pluginDirs: [folders.directory],
      database: databaseUrl ?? dataDir,
      clock: createSystemClock(),
      env: { SECRET_KEY: '0'.repeat(64) },
    });
    hosts.push(host);
    return host;
  };
  const stateOf = (host: TestHost) => host.plugins.list().find(({ slug }) => slug === 'faulty');

  /** Makes the statement of the work fail by what another session does. */
  async function duringOutage<Result>(work: () => Promise<Result>): Promise<Result> {
    const { databaseUrl, dataDir } = location();
    if (databaseUrl === null) {
      const other = new BetterSqlite(join(dataDir, 'site.sqlite'));
      other.exec('BEGIN IMMEDIATE');
      return work().finally(() => other.close());
    }
    const other = new Client({ connectionString: databaseUrl });
    await other.connect();
    const cancelled = until('a statement to cancel', async () => {
      const { rowCount } = await other.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%pg_sleep(61)%' AND pid <> pg_backend_pid()
          AND state = 'active' AND pg_cancel_backend(pid)`,
      );
      return rowCount === 1;
    });
    return Promise.all([work(), cancelled])
      .then(([result]) => result)
      .finally(() => other.end());
  }

  it('is retried, and counted against nobody', async () => {
    const running = await open();
    await running.plugins.activate('faulty');
    const codes: string[] = [];
    world.registersFaulty = async ({ database }) => {
      if (codes.length >= 2) return;
      await duringOutage(() =>
        dialect === 'sqlite'
          ? database.knex('options').where({ name: 'none' }).delete()
          : database.knex.raw('SELECT pg_sleep(61)'),
      ).catch((error: unknown) => {
        codes.push((error as { code: string }).code);
        throw error;
      });
    };
    const starting = await open();
    expect(codes).to.deep.equal(dialect === 'sqlite' ? ['SQLITE_BUSY', 'SQLITE_BUSY'] : ['57014', '57014']);
    for (const host of [running, starting]) {
      expect(stateOf(host)).to.deep.include({ state: 'active', failure: null, lastError: null });
      expect(host.hooks.applyFilters('faulty', '')).to.equal('runs');
    }
    expect(await starting.options.get('plugin_failures')).to.equal(false);
    expect(await starting.options.get('active_plugins')).to.deep.equal(['faulty']);
  }).timeout(60_000);

  it('that lasts leaves the plugin out of the starting process, until it has passed', async () => {
    const running = await open();
    await running.plugins.activate('faulty');
    let isFaulty = true;
    world.registersFaulty = async () => {
      if (isFaulty) throw new Error('wrapped', { cause: Object.assign(new Error('gone'), { code: '57P01' }) });
    };
    const starting = await open();
    expect(stateOf(starting))
      .to.deep.include({ state: 'failed' })
      .and.to.have.nested.property('failure.stage', 'database');
    expect(stateOf(running)).to.deep.include({ state: 'active', lastError: null });
    expect(await starting.options.get('active_plugins')).to.deep.equal(['faulty']);
    running.plugins.reportFailure('faulty', 'route', Object.assign(new Error('gone'), { code: '57P01' }));
    expect(stateOf(running)).to.deep.include({ lastError: null });
    isFaulty = false;
    await until('the plugin runs', () => stateOf(starting)?.state === 'active');
    expect(starting.hooks.applyFilters('faulty', '')).to.equal('runs');
  }).timeout(60_000);
});
