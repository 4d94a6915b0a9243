import { existsSync } from 'node:fs';
import { rm, symlink, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { createFakeClock, createTestHost } from '#testing';
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
