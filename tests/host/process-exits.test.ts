import { expect } from 'chai';
import { createTestHost } from '#testing';
import { createPluginFolders as createFolderNames } from '../../host/log/plugin-folders.ts';
import { logExitsOfPlugins } from '../../host/process-exits.ts';
import { createPluginFolders } from '../loader/helpers/plugin-folders.ts';

describe('a plugin that ends the process', () => {
  const { exit, abort } = process;
  afterEach(() => void Object.assign(process, { exit, abort }));

  for (const name of ['exit', 'abort'] as const)
    for (const step of ['register', 'activate'])
      it(`by process.${name} in ${step} fails to activate on the running site, and says so`, async () => {
        const ended: unknown[] = [];
        Object.assign(process, { exit: (code: unknown) => ended.push(code), abort: () => ended.push('abort') });
        const pluginFolders = createFolderNames();
        logExitsOfPlugins(pluginFolders, () => ({ error: () => undefined }));
        const folders = await createPluginFolders();
        await folders.write('leaving', {
          files: { 'index.js': `export default { register() {}, ${step}() { process.${name}(3); } };` },
        });
        const host = await createTestHost({ plugins: 'found', pluginDirs: [folders.directory], pluginFolders });
        try {
          const error = await host.plugins.activate('leaving').catch((thrown: unknown) => thrown);
          expect(error).to.have.property('message').that.includes(`The plugin called process.${name}`);
          expect(ended).to.deep.equal([]);
          expect(host.plugins.list().find(({ slug }) => slug === 'leaving')?.state).to.equal('failed');
        } finally {
          await host.stop();
          await folders.remove();
        }
      });
});
