import { createServer } from 'node:net';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { createPluginFolders, type PluginFolders } from '../loader/helpers/plugin-folders.ts';
import { startSite, type RunningSite } from '../helpers/running-site.ts';

const route = (
  slug: string,
  work: string,
): string => `import { createServer } from 'node:net'; export default { register(host) {
  host.rest.registerRoute('${slug}/v1', '/go', { methods: ['POST'], permission: () => true, handler: () => { ${work} } });
} };`;

describe('a plugin that does to the process what it must not', () => {
  let folders: PluginFolders;
  let site: RunningSite;
  before(async () => {
    folders = await createPluginFolders();
    await folders.write('endless', { files: { 'index.js': route('endless', 'for (;;) Math.random();') } });
    await folders.write('leaving', { files: { 'index.js': route('leaving', 'process.exit(3);') } });
    await folders.write('listener', { files: { 'index.js': route('listener', '') } });
    await folders.write('stray', {
      files: { 'index.js': `export default { register() { Promise.reject(new Error('lost')); } };` },
    });
  });
  after(() => folders.remove());
  const start = async (...active: string[]): Promise<void> => {
    site = await startSite({ PLUGIN_DIRS: folders.directory, BLOCKED_EXIT_SECONDS: '7' });
    for (const slug of active) {
      await site.cli('plugin', 'activate', slug);
      while ((await fetch(`${site.url}/wp-json/${slug}/v1`)).status !== 200) await new Promise(setImmediate);
    }
  };
  const go = (slug: string): Promise<unknown> =>
    fetch(`${site.url}/wp-json/${slug}/v1/go`, { method: 'POST' }).catch(() => null);
  const ended = (): Promise<unknown[]> => once(site.process, 'close');
  const line = async (event: string): Promise<Record<string, unknown>> =>
    JSON.parse((await site.waitFor(new RegExp(`^\\{.*"event":"${event}".*$`, 'm')))[0]) as Record<string, unknown>;

  it('by an endless loop is named with its stack while it blocks, and then the process ends', async () => {
    await start('endless');
    const end = ended();
    void go('endless');
    const blocked = await line('process_blocked');
    expect(blocked).to.include({ plugin: 'endless', level: 'error' });
    expect(String(blocked['stack'])).to.match(/handler \(.*endless\/index\.js:2\)/);
    expect((await end)[1]).to.equal('SIGKILL');
    expect(await line('process_blocked_ended')).to.include({ plugin: 'endless' });
    await site.stop();
  }).timeout(600_000);

  it('by process.exit is named with its stack', async () => {
    await start('leaving');
    const end = ended();
    void go('leaving');
    expect((await end)[0]).to.equal(3);
    const exited = await line('plugin_ended_process');
    expect(exited).to.include({ plugin: 'leaving' });
    expect(JSON.stringify(exited['error'])).to.contain('leaving/index.js');
    await site.stop();
  }).timeout(600_000);

  it('by what runs on after its deactivation is named with its kinds', async () => {
    await folders.write('leaky', {
      files: {
        'index.js': `import { createServer } from 'node:http'; import { spawn } from 'node:child_process';
export default { register(host) {
  host.rest.registerRoute('leaky/v1', '/go', { permission: () => true, handler: () => 'ok' });
  createServer().listen(0, '127.0.0.1');
  setInterval(() => {}, 1000);
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  process.on('exit', () => child.kill());
  host.clock.every(1000, () => {});
  const ended = setInterval(() => {}, 1000);
  host.onStop(() => clearInterval(ended));
} };`,
      },
    });
    await start('leaky');
    await site.cli('plugin', 'deactivate', 'leaky');
    const { plugin, left } = await line('plugin_left_running');
    expect(plugin).to.equal('leaky');
    const found = (left as { kind: string; name: string; position: string }[]).map(({ kind, position }) => [
      kind,
      /index\.js:(\d+)/.exec(position)?.[1],
    ]);
    expect(found).to.have.deep.members([
      ['server', '4'],
      ['timer', '5'],
      ['child process', '6'],
      ['listener', '7'],
    ]);
    await site.stop();
  }).timeout(600_000);

  it('by a port in use or a lost rejection is named by each command, which goes on', async () => {
    await start('listener');
    await site.cli('plugin', 'activate', 'stray');
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    await writeFile(
      join(folders.directory, 'listener', 'index.js'),
      `import { createServer } from 'node:net';
       export default { register() { createServer().listen(${port}, '127.0.0.1'); } };`,
    );
    const listed = JSON.parse(await site.cli('plugin', 'list', '--json')) as Record<string, unknown>[];
    expect(listed.find(({ slug }) => slug === 'listener')).to.include({ state: 'active' });
    await site.cli('plugin', 'deactivate', 'listener');
    await site.cli('plugin', 'deactivate', 'stray');
    taken.close();
    await site.stop();
  }).timeout(600_000);
});
