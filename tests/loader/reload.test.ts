import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { createLoaderBench } from './helpers/loader-bench.ts';
import type { LoaderBench } from './helpers/loader-bench.ts';

const noPackage = { 'package.json': '{}' };

/** Each answers what its relative import holds, through the filter `version`. */
const kinds: Readonly<Record<string, (version: number) => Readonly<Record<string, string>>>> = {
  'JavaScript modules': (version) => ({
    'index.js': `import { text } from './lib/text.js'; export default { register(host) { host.hooks.addFilter('version', () => 'entry ${version}, ' + text); } };`,
    'lib/text.js': `export { text } from '../deep.js';`,
    'deep.js': `export const text = 'lib ${version}';`,
  }),
  TypeScript: (version) => ({
    'index.ts': `import { text } from './lib/text.ts';
      interface Host { hooks: { addFilter(name: string, callback: () => string): void } }
      export default { register(host: Host): void { host.hooks.addFilter('version', () => 'entry ${version}, ' + text); } };`,
    'lib/text.ts': `export const text: string = 'lib ${version}';`,
  }),
  'JavaScript modules in a folder whose package says nothing of modules': (version) => ({
    'index.js': `import { text } from './text.js'; export default { register(host) { host.hooks.addFilter('version', () => 'entry ${version}, ' + text); } };`,
    'text.js': `export const text = 'lib ${version}';`,
    ...noPackage,
  }),
  'TypeScript in a folder whose package says nothing of modules': (version) => ({
    'index.ts': `import { text } from './text.ts'; export default { register(host: any) { host.hooks.addFilter('version', () => 'entry ${version}, ' + text); } };`,
    'text.ts': `export const text: string = 'lib ${version}';`,
    ...noPackage,
  }),
  CommonJS: (version) => ({
    'index.cjs': `const { text } = require('./text.cjs'); module.exports = { register(host) { host.hooks.addFilter('version', () => 'entry ${version}, ' + text); } };`,
    'text.cjs': `exports.text = 'lib ${version}';`,
  }),
  'JavaScript modules imported later': (version) => ({
    'index.js': `export default { async register(host) { const { text } = await import('./text.js'); host.hooks.addFilter('version', () => 'entry ${version}, ' + text); } };`,
    'text.js': `export const text = 'lib ${version}';`,
  }),
};

describe('reload of an edited plugin', () => {
  let bench: LoaderBench;
  beforeEach(async () => {
    bench = await createLoaderBench();
    await bench.loader.start();
  });
  afterEach(() => bench.folders.remove());

  const reactivate = async (): Promise<unknown> => {
    await bench.loader.deactivate('sample');
    await bench.loader.activate('sample');
    return bench.services.hooks.applyFilters('version', 'none');
  };

  for (const [kind, filesOf] of Object.entries(kinds)) {
    it(`runs the new code of ${kind}, with what it imports`, async () => {
      await bench.folders.write('sample', { files: filesOf(1) });
      await bench.loader.activate('sample');
      expect(bench.services.hooks.applyFilters('version', 'none')).to.equal('entry 1, lib 1');
      for (const version of [2, 3]) {
        await bench.folders.write('sample', { files: filesOf(version) });
        expect(await reactivate()).to.equal(`entry ${version}, lib ${version}`);
      }
    });
  }

  for (const file of ['index.js', 'index.ts'])
    it(`does not load ${file} again while no file changed`, async () => {
      const state = globalThis as { timesLoaded?: number };
      state.timesLoaded = 0;
      const folder = await bench.folders.write('sample', {
        files: {
          [file]: `(globalThis as any).timesLoaded += 1; export default { register() {} };`.replace(
            file === 'index.js' ? ' as any' : '\0',
            '',
          ),
        },
      });
      await bench.loader.activate('sample');
      await reactivate();
      await reactivate();
      expect(state.timesLoaded).to.equal(1);
      await writeFile(join(folder, 'note.txt'), 'a file more');
      await reactivate();
      await reactivate();
      expect(state.timesLoaded).to.equal(2);
    });

  it('leaves other plugins and the packages a plugin brings along as they are', async () => {
    const state = globalThis as { packagesLoaded?: number };
    state.packagesLoaded = 0;
    const files = (version: number): Record<string, string> => ({
      'index.js': `import { text } from 'dependency'; import { other } from '../other/shared.js';
        export default { register(host) { host.hooks.addFilter('version', () => 'entry ${version}, ' + text + ', ' + other); } };`,
      'node_modules/dependency/package.json': '{"name":"dependency","type":"module","main":"main.js"}',
      'node_modules/dependency/main.js': `globalThis.packagesLoaded += 1; export const text = 'package';`,
    });
    await bench.folders.write('other', {
      files: {
        'index.js': 'export default { register() {} };',
        'shared.js': `globalThis.packagesLoaded += 1; export const other = 'other';`,
      },
    });
    await bench.folders.write('sample', { files: files(1) });
    await bench.loader.activate('sample');
    await bench.folders.write('sample', { files: files(2) });
    expect(await reactivate()).to.equal('entry 2, package, other');
    expect(state.packagesLoaded).to.equal(2);
  });

  it('works on a plugin that is linked into the plugin folder', async () => {
    const { createPluginFolders } = await import('./helpers/plugin-folders.ts');
    const { symlink } = await import('node:fs/promises');
    const elsewhere = await createPluginFolders();
    const filesOf = kinds['JavaScript modules']!;
    const folder = await elsewhere.write('sample', { files: filesOf(1) });
    await symlink(folder, join(bench.folders.directory, 'sample'));
    await bench.loader.activate('sample');
    await elsewhere.write('sample', { files: filesOf(2) });
    expect(await reactivate()).to.equal('entry 2, lib 2');
    await elsewhere.remove();
  });
});
