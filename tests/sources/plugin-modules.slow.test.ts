import { expect } from 'chai';
import { startSite, type RunningSite } from '../helpers/running-site.ts';
import { createPluginFolders, type PluginFolders } from '../loader/helpers/plugin-folders.ts';

const manifest = { autoActivate: true };
const source = (text: string): string => `import { RestError, type HostApi } from '#plugin-api';
  import { word } from './word.ts';
  export default {
    register(host: HostApi): void {
      host.rest.registerRoute('sample/v1', '/word', {
        permission: () => true,
        handler: async () => ({ word, text: '${text}', isShared: RestError === host.api.RestError,
          read: await host.documents.read({ module: new URL('./word.reader.ts', import.meta.url), reader: 'readWord', input: {} }) }),
      });
      host.rest.registerRoute('sample/v1', '/fail', { permission: () => true, handler: () => fail() });
    },
  };
  function fail(): never {
    throw new TypeError('On line 14');
  }`;
const files = (text: string): Record<string, string> => ({
  'index.ts': source(text),
  'word.ts': `export const word: string = 'TypeScript';`,
  'word.reader.ts': `import { word } from './word.ts'; export const readWord = (): string => word.toLowerCase();`,
});

describe('plugins in TypeScript on a site', () => {
  let folders: PluginFolders;
  let site: RunningSite;
  before(async function () {
    this.timeout(120_000);
    folders = await createPluginFolders();
    await folders.write('sample', { manifest, files: files('one') });
    site = await startSite({ PLUGIN_DIRS: folders.directory });
  });
  after(async () => {
    await site.stop();
    await folders.remove();
  });

  const read = async (path: string): Promise<unknown> =>
    (await fetch(`${site.url}/wp-json/sample/v1/${path}`)).json() as Promise<unknown>;

  it('runs a plugin in TypeScript from any folder, with the classes of the host and modules for threads', async () => {
    expect(await read('word')).to.deep.equal({ word: 'TypeScript', text: 'one', isShared: true, read: 'typescript' });
  });

  it('logs errors with the lines of the source', async () => {
    await read('fail');
    await site.waitFor(/On line 14.*sample\/index\.ts:14:\d+/);
  });

  it('runs the new code after a plugin was edited and activated again', async () => {
    await folders.write('sample', { manifest, files: files('two') });
    await site.cli('plugin', 'deactivate', 'sample');
    await site.cli('plugin', 'activate', 'sample');
    let word: unknown;
    // The running site follows within a second.
    for (let attempt = 0; attempt < 100; attempt += 1) {
      word = await read('word');
      if ((word as { text?: string }).text === 'two') break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(word).to.include({ text: 'two', isShared: true });
  }).timeout(60_000);
});
