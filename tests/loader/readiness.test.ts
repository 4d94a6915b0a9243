import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { createTestHost } from '#testing';
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
