import { expect } from 'chai';
import { createTestHost } from '#testing';
import { createPluginFolders } from '../loader/helpers/plugin-folders.ts';

describe('stopping a test host', () => {
  it('waits ten seconds of its fake clock for a plugin whose onStop never ends', async () => {
    const folders = await createPluginFolders();
    await folders.write('endless', {
      files: { 'index.js': 'export default { register(host) { host.onStop(() => new Promise(() => {})); } };' },
    });
    const host = await createTestHost({ plugins: ['endless'], pluginDirs: [folders.directory] });
    const started = host.clock.now();
    await host.stop();
    expect(host.clock.now() - started).to.be.at.least(10_000);
    expect(host.logged.join('\n')).to.match(/"plugin":"endless"/);
    await folders.remove();
  }).timeout(60_000);
});
