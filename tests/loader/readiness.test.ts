import { existsSync } from 'node:fs';
import { rm, symlink, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { createFakeClock, createTestHost, type TestHost } from '#testing';
import { breakDatabase } from '../helpers/break-database.ts';
import { describeHosts, sharedSite } from '../helpers/dialects.ts';
import { until } from '../helpers/until.ts';
import { createPluginFolders, type PluginFolders } from './helpers/plugin-folders.ts';

const files = { 'index.js': 'export default { register() {} };' };

describe('a node without an active plugin', () => {
  let folders: PluginFolders;
  let data: PluginFolders;
  before(async () => {
    folders = await createPluginFolders();
    data = await createPluginFolders();
    await folders.write('missing', { files });
    const host = await createTestHost({ plugins: 'found', pluginDirs: [folders.directory], database: data.directory });
    await host.plugins.activate('missing');
    expect(await (await host.fetch('/readyz')).json()).to.have.nested.property('checks.plugins', 'ok');
    await host.stop();
    await rm(join(folders.directory, 'missing'), { recursive: true });
  });
  after(async () => {
    await folders.remove();
    await data.remove();
  });

  for (const [requires, status, text] of [
    ['false', 200, 'degraded'],
    ['true', 503, 'failed'],
  ] as const)
    it(`says so in /readyz and in the log, with ${status} if READY_REQUIRES_PLUGINS is ${requires}`, async () => {
      const host = await createTestHost({
        ...{ plugins: 'found', pluginDirs: [folders.directory], database: data.directory },
        env: { READY_REQUIRES_PLUGINS: requires },
      });
      try {
        const response = await host.fetch('/readyz');
        expect(response.status).to.equal(status);
        expect(await response.json()).to.have.nested.property('checks.plugins', text);
        const line = host.logged.find((each) => each.includes('"plugin_not_started"'));
        expect(line).to.contain('"plugin":"missing"').and.to.contain('its folder is missing');
      } finally {
        await host.stop();
      }
    });
});

const failing = `{ id: '0002_wrong', async up() { throw new Error('the second step is wrong'); } }`;

describeHosts('/readyz while migrations fail', ({ location }) => {
  const checksOf = async (host: TestHost): Promise<readonly unknown[]> => {
    const response = await host.fetch('/readyz');
    const { checks } = (await response.json()) as { readonly checks: Readonly<Record<string, string>> };
    return [response.status, checks['migrations'], checks['plugins']];
  };

  it('stays ready without the plugin whose new version they belong to, until it is deactivated', async () => {
    const folders = await createPluginFolders();
    const { database, env } = sharedSite(location());
    const write = (version: string, migrations: string) =>
      folders.write('raised', {
        manifest: { version },
        files: { [`index-${version}.js`]: `export default { migrations: [${migrations}], register() {} };` },
      });
    const open = (more = {}) =>
      createTestHost({ plugins: 'found', pluginDirs: [folders.directory], database, env: { ...env, ...more } });
    await write('1.0.0', `{ id: '0001_first', async up() {} }`);
    const first = await open();
    await first.plugins.activate('raised');
    await first.stop();
    await write('1.1.0', `{ id: '0001_first', async up() {} }, ${failing}`);
    const strict = await open({ READY_REQUIRES_PLUGINS: 'true' });
    expect(await checksOf(strict)).to.deep.equal([503, 'ok', 'failed']);
    await strict.stop();
    const host = await open();
    const other = await open();
    try {
      for (const each of [host, other]) expect(await checksOf(each)).to.deep.equal([200, 'ok', 'degraded']);
      const pending = async (each: TestHost) =>
        (await each.database.migrationStatus()).filter(({ appliedAt }) => appliedAt === null).length;
      expect([await pending(host), await pending(other)], 'for db migrate').to.deep.equal([1, 1]);
      await host.plugins.deactivate('raised');
      await until('the other node has read it', async () => {
        await other.clock.advance(200);
        return (await checksOf(other))[2] === 'ok';
      });
      for (const each of [host, other]) expect(await checksOf(each)).to.deep.equal([200, 'ok', 'ok']);
      expect([await pending(host), await pending(other)], 'of a deactivated one').to.deep.equal([0, 0]);
    } finally {
      await host.stop();
      await other.stop();
      await folders.remove();
    }
  });

  it('is not ready while those of the shipped service do', async () => {
    const { database, env } = sharedSite(location());
    const first = await createTestHost({ plugins: ['svc'], database, env });
    expect(await checksOf(first)).to.deep.equal([200, 'ok', 'ok']);
    const [oldest] = (await first.database.migrationStatus())
      .filter(({ owner }) => owner === 'svc')
      .map(({ id }) => id);
    // Its tables exist, so that it cannot run again.
    await first.database.knex('migrations').where({ owner: 'svc', id: oldest }).delete();
    await first.stop();
    const host = await createTestHost({ plugins: 'found', database, env });
    try {
      expect(await checksOf(host)).to.deep.equal([503, 'failed', 'degraded']);
    } finally {
      await host.stop();
    }
  });
});

describeHosts('/readyz while the database is away or locked', ({ dialect, location }) => {
  it('names the database, and no migrations', async () => {
    const { database, env } = sharedSite(location());
    const host = await createTestHost({ plugins: [], database, env });
    const repair = await breakDatabase(location());
    try {
      const response = await host.fetch('/readyz');
      const { checks } = (await response.json()) as { readonly checks: Readonly<Record<string, string>> };
      expect([response.status, checks['database'], checks['migrations'], checks['version']]).to.deep.equal(
        // Reads of SQLite do not wait for another process's lock.
        dialect === 'sqlite' ? [200, 'ok', 'ok', 'ok'] : [503, 'failed', 'unknown', 'unknown'],
      );
      await repair();
      await until('the site is ready again', async () => (await host.fetch('/readyz')).status === 200);
    } finally {
      await repair();
      await host.stop();
    }
  });
});

describeHosts('/readyz while the disk of DATA_DIR is full', ({ location }) => {
  it('says so within ten seconds, and that it is not any more', async () => {
    const { database, env } = sharedSite(location());
    const clock = createFakeClock();
    const host = await createTestHost({ plugins: [], database, env, clock });
    const read = async () => {
      const response = await host.fetch('/readyz');
      const { checks, details } = (await response.json()) as Record<string, Record<string, string> | undefined>;
      return [response.status, checks?.['storage'], details?.['storage']];
    };
    const file = join(location().dataDir, 'write-probe');
    try {
      expect(await read()).to.deep.equal([200, 'ok', undefined]);
      expect(existsSync(file)).to.equal(false);
      // Each write to this device fails as on a full disk.
      await symlink('/dev/full', file);
      expect(await read(), 'at once').to.deep.equal([200, 'ok', undefined]);
      await clock.advance(10_000);
      const text = 'Files in DATA_DIR cannot be written (ENOSPC). Free some space, or check the disk.';
      expect(await read()).to.deep.equal([503, 'failed', text]);
      await unlink(file);
      await clock.advance(10_000);
      expect(await read()).to.deep.equal([200, 'ok', undefined]);
    } finally {
      await host.stop();
    }
  });
});
