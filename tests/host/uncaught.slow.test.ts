import { expect } from 'chai';
import { createPluginFolders, type PluginFolders } from '../loader/helpers/plugin-folders.ts';
import { startSite, type RunningSite } from '../helpers/running-site.ts';

/** Fails outside of every call of the host. */
const failing = (slug: string): string => `export default {
  register(host) {
    const route = (path, work) => host.rest.registerRoute('${slug}/v1', path, {
      methods: ['POST'], permission: () => true, handler: () => { setTimeout(work, 0); return 'ok'; },
    });
    route('/throw', () => { throw new Error('late in ${slug}'); });
    route('/reject', () => { void Promise.reject(new Error('unawaited in ${slug}')); });
  },
};`;

describe('an error that nothing caught', function () {
  this.timeout(300_000);
  let folders: PluginFolders;
  let site: RunningSite;
  before(async () => {
    folders = await createPluginFolders();
    await folders.write('stray', { files: { 'index.js': failing('stray') } });
    await folders.write('shipped', { manifest: { autoActivate: true }, files: { 'index.js': failing('shipped') } });
    site = await startSite({ PLUGIN_DIRS: folders.directory });
    await site.cli('plugin', 'activate', 'stray');
  });
  after(async () => {
    await site.stop();
    await folders.remove();
  });

  const post = (path: string): Promise<Response> => fetch(`${site.url}/wp-json/${path}`, { method: 'POST' });
  const line = async (event: string, text: string): Promise<Record<string, unknown>> => {
    const [found] = await site.waitFor(new RegExp(`^\\{.*"event":"${event}".*${text}.*$`, 'm'));
    return JSON.parse(found) as Record<string, unknown>;
  };
  const listed = async (): Promise<Record<string, unknown> | undefined> => {
    const plugins = JSON.parse(await site.cli('plugin', 'list', '--json')) as Record<string, unknown>[];
    return plugins.find(({ slug }) => slug === 'stray');
  };

  it('in a promise of a plugin names the plugin in the log and in the list', async () => {
    while ((await post('stray/v1/reject')).status !== 200) await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await line('unhandled_rejection', 'unawaited in stray')).to.include({ plugin: 'stray' });
    while ((await listed())?.['last_error'] !== 'promise: unawaited in stray');
  });

  it('in a timer of a plugin stops the plugin, and the site runs on', async () => {
    expect((await post('stray/v1/throw')).status).to.equal(200);
    expect(await line('uncaught_exception', 'late in stray')).to.include({ plugin: 'stray', level: 'error' });
    await line('plugin_crashed', 'late in stray');
    while ((await post('stray/v1/throw')).status !== 404);
    expect((await fetch(`${site.url}/readyz`)).status).to.equal(200);
    while ((await listed())?.['failure'] !== 'crash: late in stray');
    expect(await listed()).to.include({ state: 'failed' });
    await site.cli('plugin', 'activate', 'stray');
    while ((await post('stray/v1/reject')).status !== 200);
    expect(await listed()).to.include({ state: 'active' });
  });

  it('in a plugin that ships with the host ends the process in good order, with code 1', async () => {
    const ended = new Promise((resolve) => site.process.once('close', resolve));
    await post('shipped/v1/throw');
    expect(await ended).to.equal(1);
    expect(await line('uncaught_exception', 'late in shipped')).to.include({ plugin: 'shipped' });
    expect(site.output()).not.to.match(/^Error: /m);
  });
});
