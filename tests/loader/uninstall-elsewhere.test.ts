import { expect } from 'chai';
import { createSystemClock } from '../../host/clock.ts';
import { nameRests, readTraces } from '../../host/testing/plugin-traces.ts';
import { createTestHost, type TestHost } from '../../host/testing/test-host.ts';
import { describeHosts } from '../helpers/dialects.ts';
import { until } from '../helpers/until.ts';
import { createPluginFolders, type PluginFolders } from './helpers/plugin-folders.ts';

/** Waits in `register` where a test wants it to, then writes what an uninstallation deletes. */
const lasting = `export default {
  migrations: [{ id: '0001_notes', up: (knex) => knex.schema.createTable('lasting_notes', (table) => void table.increments()) }],
  async register(host) {
    host.options.registerSetting('lasting_size', { group: 'lasting', schema: { type: 'integer' } });
    await globalThis.registersLasting?.();
    await host.cron.schedule('hourly', 'lasting_hourly');
    await host.options.add('lasting_seen', 1);
  },
  async uninstall(host) {
    await host.options.delete('lasting_seen');
    await host.database.knex.schema.dropTable('lasting_notes');
  },
};`;

/** Starts before the other one and waits there. */
const early = `export default { async register() { await globalThis.registersEarly?.(); } };`;

const gates = globalThis as { registersLasting?: () => Promise<void>; registersEarly?: () => Promise<void> };

/** A point where a plugin waits: `reached` once it is there. */
function createGate() {
  const gate = { isReached: false, open: (): void => {} };
  const opened = new Promise<void>((resolve) => (gate.open = resolve));
  return Object.assign(gate, {
    async wait() {
      gate.isReached = true;
      await opened;
    },
  });
}

describeHosts('a plugin uninstalled while another process starts or runs it', ({ location }) => {
  let folders: PluginFolders;
  let hosts: TestHost[];
  const open = async (): Promise<TestHost> => {
    const { databaseUrl, dataDir } = location();
    const host = await createTestHost({
      plugins: 'found',
      pluginDirs: [folders.directory],
      database: databaseUrl ?? dataDir,
      // Processes that share a file look for the changes of others by their clocks.
      clock: createSystemClock(),
      env: { SECRET_KEY: '0'.repeat(64) },
    });
    hosts.push(host);
    return host;
  };
  const stateOf = (host: TestHost): string | undefined =>
    host.plugins.list().find(({ slug }) => slug === 'lasting')?.state;
  const expectNothingLeft = async (host: TestHost, before: Awaited<ReturnType<typeof readTraces>>): Promise<void> => {
    expect(nameRests(before, await readTraces(host))).to.deep.equal([]);
    const records = await Promise.all(
      ['plugin_versions', 'plugin_settings', 'plugin_failures'].map((name) => host.options.get(name)),
    );
    expect(JSON.stringify(records)).to.not.include('lasting');
    expect((await host.database.migrationStatus()).filter(({ owner }) => owner === 'lasting')).to.deep.equal([]);
    const errors = hosts.flatMap(({ logged }) => logged).filter((line) => line.includes('"level":"error"'));
    expect(errors).to.deep.equal([]);
  };

  beforeEach(async () => {
    hosts = [];
    folders = await createPluginFolders();
    await folders.write('early', { files: { 'index.js': early } });
    await folders.write('lasting', { manifest: { requires: { early: '^1' } }, files: { 'index.js': lasting } });
  });
  afterEach(async () => {
    delete gates.registersEarly;
    delete gates.registersLasting;
    for (const host of hosts) await host.stop();
    await folders.remove();
  });

  it('leaves nothing: a start that has begun is waited for, and ends', async () => {
    const first = await open();
    await first.plugins.activate('early');
    const before = await readTraces(first);
    await first.plugins.activate('lasting');
    const gate = createGate();
    gates.registersLasting = gate.wait;
    const starting = open();
    await until('the other process starts the plugin', () => gate.isReached);
    await first.plugins.deactivate('lasting');
    const uninstalling = first.plugins.uninstall('lasting');
    // Without waiting it would have deleted everything by then.
    await Promise.race([uninstalling, createSystemClock().sleep(200)]);
    expect(nameRests(before, await readTraces(first)).length).to.be.greaterThan(0);
    gate.open();
    const second = await starting;
    await uninstalling;
    await until('the other process has stopped it', () => stateOf(second) === 'inactive');
    await expectNothingLeft(first, before);
    await first.plugins.activate('lasting');
    await until('the other process starts it again', () => stateOf(second) === 'active');
  });

  it('leaves nothing: a start that has not begun does not begin', async () => {
    const first = await open();
    await first.plugins.activate('early');
    const before = await readTraces(first);
    await first.plugins.activate('lasting');
    const gate = createGate();
    gates.registersEarly = gate.wait;
    const starting = open();
    await until('the other process starts the plugin before it', () => gate.isReached);
    await first.plugins.deactivate('lasting');
    await first.plugins.uninstall('lasting');
    gate.open();
    const second = await starting;
    expect(stateOf(second)).to.equal('inactive');
    await expectNothingLeft(first, before);
  });

  it('is deleted once the process that runs it has followed, or has ended', async () => {
    const [first, second] = [await open(), await open()];
    await first.plugins.activate('early');
    const before = await readTraces(first);
    for (const end of ['follow', 'stop']) {
      await first.plugins.activate('lasting');
      await until('the other process runs it', () => stateOf(second) === 'active');
      await first.plugins.deactivate('lasting');
      await Promise.all([first.plugins.uninstall('lasting'), end === 'stop' && second.stop()]);
      await expectNothingLeft(first, before);
    }
  });
});
