import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createLoaderBench, type LoaderBench } from './helpers/loader-bench.ts';

const plain = `export default { register(host) { host.log.info('register'); } };`;
/** No process has this id: Linux gives none above 4,194,304. */
const gone = 4_194_305;

describe('plugin folders after a process ended in the middle', () => {
  let bench: LoaderBench;
  beforeEach(async () => {
    bench = await createLoaderBench();
  });
  afterEach(async () => {
    await bench.loader.stop();
    await bench.folders.remove();
  });

  const at = (name: string): string => join(bench.folders.directory, name);
  const names = (): Promise<string[]> => readdir(bench.folders.directory);
  const warnings = (): Record<string, unknown>[] =>
    bench.services.lines.filter(({ level }) => level !== 'info').map(({ fields }) => fields);
  const tempFolder = (kind: string, { pid = gone, machine = hostname(), madeAt = bench.clock.now() } = {}): string =>
    `.${kind}-${madeAt}-${machine.replace(/[^\w.-]/g, '_')}-${pid}-0123abcd`;
  const versionAt = async (name: string): Promise<unknown> =>
    (JSON.parse(await readFile(at(`${name}/plugin.json`), 'utf8')) as { version: unknown }).version;
  /** As an upgrade from 1.0.0 to 2.0.0 leaves it between its two renames. */
  async function interrupt(aside: string): Promise<void> {
    await bench.folders.write('sample', { files: { 'index.js': plain } });
    bench.services.stored.set('active_plugins', ['sample']);
    bench.services.stored.set('plugin_versions', { sample: '1.0.0' });
    await rename(at('sample'), at(aside));
  }

  it('restore and run the old version when the new one had not been moved yet', async () => {
    await interrupt(tempFolder('replaced'));
    await mkdir(at(tempFolder('installing')), { recursive: true });
    await bench.loader.start();
    expect(bench.status('sample')).to.include({ state: 'active', version: '1.0.0' });
    expect(await names()).to.deep.equal(['sample']);
    expect(warnings()).to.deep.equal([{ event: 'plugin_upgrade_rolled_back', plugin: 'sample', version: '1.0.0' }]);
  });

  it('restore the old version over a new one that has never run', async () => {
    await interrupt(tempFolder('replaced'));
    await bench.folders.write('sample', { manifest: { version: '2.0.0' }, files: { 'index.js': plain } });
    await bench.loader.start();
    expect(bench.status('sample')).to.include({ state: 'active', version: '1.0.0' });
    expect(await names()).to.deep.equal(['sample']);
  });

  it('keep the new version when it has run and changed the data', async () => {
    await interrupt(tempFolder('replaced'));
    await bench.folders.write('sample', { manifest: { version: '2.0.0' }, files: { 'index.js': plain } });
    bench.services.stored.set('plugin_versions', { sample: '2.0.0' });
    await bench.loader.start();
    expect(bench.status('sample')).to.include({ state: 'active', version: '2.0.0' });
    expect(await names()).to.deep.equal(['sample']);
    expect(warnings()).to.deep.equal([
      { event: 'plugin_upgrade_completed', plugin: 'sample', version: '2.0.0', removed: '1.0.0' },
    ]);
  });

  it('are left alone while the process that uses them is running', async () => {
    const busy = tempFolder('replaced', { pid: process.ppid });
    await interrupt(busy);
    await mkdir(at(tempFolder('installing', { pid: process.ppid })));
    await bench.loader.start();
    expect((await names()).sort()).to.deep.equal([tempFolder('installing', { pid: process.ppid }), busy].sort());
    expect(warnings()[0]).to.include({ event: 'plugin_upgrade_in_progress', folder: at(busy) });
  });

  it('count folders of another machine as stale after 15 minutes', async () => {
    const far = { machine: 'another-machine', pid: 1 };
    await interrupt(tempFolder('replaced', { ...far, madeAt: bench.clock.now() - 60_000 }));
    await bench.loader.start();
    expect(bench.status('sample').state).to.equal('failed');
    await bench.clock.advance(15 * 60_000);
    const other = bench.beside();
    await other.loader.start();
    expect(other.loader.list().map(({ slug, version, state }) => `${slug} ${version} ${state}`)).to.deep.equal([
      'sample 1.0.0 active',
    ]);
    await other.loader.stop();
  });

  it('count earlier names as stale, and log a folder without a valid plugin', async () => {
    await interrupt('.replaced-8c9e3b5e-2f1c-4f43-9f42-0d2f3a1b4c5d');
    await mkdir(at(tempFolder('replaced')));
    await writeFile(at(`${tempFolder('replaced')}/plugin.json`), '{"slug":"../up"}');
    await mkdir(at(tempFolder('removed')));
    await mkdir(at('.git'));
    await bench.loader.start();
    expect((await names()).sort()).to.deep.equal(['.git', tempFolder('replaced'), 'sample'].sort());
    expect(warnings().filter(({ event }) => event === 'plugin_cleanup_failed')).to.have.length(1);
  });

  it('are recovered before an installation too', async () => {
    await bench.loader.start();
    await interrupt(tempFolder('replaced'));
    await bench.folders.write('newer', {
      manifest: { slug: 'sample', version: '2.0.0' },
      files: { 'index.js': plain },
    });
    expect(await bench.loader.install({ path: at('newer') })).to.include({ replaced: '1.0.0', version: '2.0.0' });
    expect(await versionAt('sample')).to.equal('2.0.0');
    expect((await names()).sort()).to.deep.equal(['newer', 'sample']);
  });
});
