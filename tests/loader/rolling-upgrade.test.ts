import { expect } from 'chai';
import { createSystemClock } from '../../host/clock.ts';
import { createTestHost, type TestHost } from '../../host/testing/test-host.ts';
import { describeHosts } from '../helpers/dialects.ts';
import { until } from '../helpers/until.ts';
import { createPluginFolders, type PluginFolders } from './helpers/plugin-folders.ts';

const notes = `{ id: '0001_notes', up: (knex) => knex.schema.createTable('rolling_notes', (table) => { table.increments(); table.string('old', 20); }) }`;
const expand = `{ id: '0002_expand', up: (knex) => knex.schema.alterTable('rolling_notes', (table) => void table.string('new', 20)) }`;
const contract = `{ id: '0003_contract', contracts: '0002_expand', up: (knex) => knex.schema.alterTable('rolling_notes', (table) => void table.dropColumn('old')) }`;
const entry = (...migrations: string[]): string =>
  `export default { migrations: [${migrations.join()}], register(host) { host.hooks.addFilter('rolling', () => '${migrations.length}'); } };`;

describeHosts('nodes of two versions side by side', ({ location }) => {
  const places: PluginFolders[] = [];
  const hosts: TestHost[] = [];
  afterEach(async () => {
    for (const host of hosts.splice(0)) await host.stop();
    for (const place of places.splice(0)) await place.remove();
  });
  /** A node whose plugin folder holds this version. */
  async function open(version: string, code: string): Promise<TestHost> {
    const folders = await createPluginFolders();
    places.push(folders);
    await folders.write('rolling', { manifest: { version }, files: { 'index.js': code } });
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
  }
  const answerOf = (host: TestHost): unknown => host.hooks.applyFilters('rolling', 'none');
  const readiness = async (host: TestHost) => {
    const response = await fetch(new URL('/readyz', host.url));
    const { checks, details = {} } = (await response.json()) as {
      checks: Record<string, string>;
      details?: Record<string, string>;
    };
    return { status: response.status, version: checks['version'], reason: details['version'] ?? '' };
  };

  it('goes on while the newer one only adds, stops and says so when it takes away, and disables nothing', async () => {
    const old = await open('1.0.0', entry(notes));
    await old.plugins.activate('rolling');
    const next = await open('1.1.0', entry(notes, expand));
    await old.plugins.sync();
    expect([answerOf(old), answerOf(next)]).to.deep.equal(['1', '2']);
    expect((await readiness(old)).status).to.equal(200);
    const last = await open('1.2.0', entry(notes, expand, contract));
    await until('the first version stops', () => answerOf(old) === 'none');
    const told = await readiness(old);
    expect(told).to.include({ status: 503, version: 'failed' });
    expect(told.reason).to.match(/too old for the data|has run on this site/);
    // The version that knows what was added needs nothing that was taken away.
    expect([answerOf(next), answerOf(last)]).to.deep.equal(['2', '3']);
    expect((await readiness(next)).status).to.equal(200);
    expect((await readiness(last)).status).to.equal(200);
    expect(await last.options.get('active_plugins')).to.deep.equal(['rolling']);
    expect(await last.options.get('plugin_versions')).to.deep.equal({ rolling: '1.2.0' });
  });

  it('does not start a version that is too old, and leaves the others alone', async () => {
    const next = await open('1.0.0', entry(notes, expand));
    await next.plugins.activate('rolling');
    const old = await open('1.0.0', entry(notes));
    expect(answerOf(old)).to.equal('none');
    const told = await readiness(old);
    expect(told).to.include({ status: 503, version: 'failed' });
    expect(told.reason).to.match(/The database is newer than this code/);
    expect(answerOf(next)).to.equal('2');
    expect(await next.options.get('active_plugins')).to.deep.equal(['rolling']);
    expect(await next.options.get('plugin_failures')).to.equal(false);
  });
});
