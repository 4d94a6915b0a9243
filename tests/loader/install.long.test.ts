import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createTestHost } from '#testing';
import { failureOf as thrownBy } from '../helpers/failure-of.ts';
import { createLoaderBench, type LoaderBench } from './helpers/loader-bench.ts';
import { claimSize, pluginFiles, renameEntry, writeZip, type ZipContents } from './helpers/zips.ts';

const failureOf = async (work: Promise<unknown>): Promise<Error> => (await thrownBy(work)) as Error;

const plain = `export default { register(host) { host.log.info('register'); }, uninstall(host) { host.log.info('uninstall'); } };`;

describe('installing plugins', () => {
  let bench: LoaderBench;
  let outside: string;
  beforeEach(async () => {
    bench = await createLoaderBench();
    outside = await mkdtemp(join(tmpdir(), 'install-'));
    await bench.loader.start();
  });
  afterEach(async () => {
    await bench.loader.stop();
    await bench.folders.remove();
    await rm(outside, { recursive: true, force: true });
  });

  const zip = (contents: ZipContents, modes = {}): Promise<string> =>
    writeZip({ file: join(outside, 'plugin.zip'), contents, modes });
  const folder = async (files: Readonly<Record<string, string>>): Promise<string> => {
    const path = join(outside, 'source');
    await mkdir(path);
    for (const [name, content] of Object.entries(files)) await writeFile(join(path, name), content);
    return path;
  };
  const refusal = async (path: string): Promise<string> => {
    const before = await readdir(bench.folders.directory);
    const { message } = await failureOf(bench.loader.install({ path }));
    expect(await readdir(bench.folders.directory), 'what is left').to.deep.equal(before);
    return message;
  };

  it('takes a folder, without its git history', async () => {
    const path = await folder(pluginFiles({}, plain));
    await mkdir(join(path, '.git'));
    expect(await bench.loader.install({ path })).to.deep.equal({
      slug: 'sample',
      name: 'Sample',
      version: '1.0.0',
      replaced: null,
      activated: false,
    });
    expect(await readdir(join(bench.folders.directory, 'sample'))).to.have.members([
      '.installed',
      'plugin.json',
      'package.json',
      'index.js',
    ]);
    expect(bench.status('sample').state).to.equal('inactive');
  });

  it('takes a zip with the plugin at its top, and activates it when asked to', async () => {
    await bench.loader.install({ path: await zip({ ...pluginFiles({}, plain), 'views/': null }), activate: true });
    expect(bench.status('sample').state).to.equal('active');
    expect(await readdir(bench.folders.directory)).to.deep.equal(['sample']);
  });

  it('takes a zip with the plugin in a folder of any name, and what macOS adds', async () => {
    const files = Object.entries(pluginFiles({}, plain)).map(([name, content]) => [`sample-main/${name}`, content]);
    await bench.loader.install({ path: await zip({ ...Object.fromEntries(files), '__MACOSX/._x': 'x' }) });
    expect(await readFile(join(bench.folders.directory, 'sample', 'index.js'), 'utf8')).to.equal(plain);
  });

  it('refuses names that lead out of the folder', async () => {
    for (const evil of ['../../evil.js', '/absolute.txt', '..\\..\\evil.js']) {
      const honest = 'x'.repeat(evil.length);
      const path = await renameEntry({
        file: await zip({ ...pluginFiles({}, plain), [honest]: 'x' }),
        from: honest,
        to: evil,
      });
      expect(await refusal(path), evil).to.match(/^The zip file (cannot be unpacked|contains)/);
    }
    expect(await readdir(tmpdir())).not.to.include('evil.js');
  });

  it('refuses links in a zip, and in a folder those that lead out of it', async () => {
    const path = await zip({ ...pluginFiles({}, plain), link: '/etc/passwd' }, { link: 0o120777 });
    expect(await refusal(path)).to.equal(
      "The zip file contains 'link', which is not a file or folder; links are not allowed.",
    );
    const source = await folder(pluginFiles({}, plain));
    await symlink('index.js', join(source, 'inside.js'));
    await symlink('../plugin.zip', join(source, 'outside.zip'));
    expect(await refusal(source)).to.contain("The link 'outside.zip' is broken or leaves the plugin folder");
    await rm(join(source, 'outside.zip'));
    await bench.loader.install({ path: source });
    expect(await readFile(join(bench.folders.directory, 'sample', 'inside.js'), 'utf8')).to.equal(plain);
  });

  it('refuses what is too large by what it inflates to, whatever it claims', async () => {
    const path = await zip({ ...pluginFiles({}, plain), 'zeros.bin': Buffer.alloc(21 * 1_048_576) });
    expect(await refusal(path)).to.equal(
      'The plugin is larger than 20 MB unpacked; remove what it does not need to run.',
    );
    expect(await refusal(await claimSize(path, 10))).to.match(/^The zip file cannot be unpacked: .*[^.]\.$/);
  });

  it('refuses too many files', async () => {
    const many = Object.fromEntries(Array.from({ length: 2_001 }, (_, index) => [`file-${index}`, '']));
    expect(await refusal(await zip({ ...pluginFiles({}, plain), ...many }))).to.contain(
      'more than 2000 files and folders',
    );
  });

  it('refuses two entries of one name', async () => {
    const path = await renameEntry({
      file: await zip({ ...pluginFiles({}, plain), 'one.txt': '1', 'two.txt': '2' }),
      from: 'two.txt',
      to: 'one.txt',
    });
    expect(await refusal(path)).to.equal('The zip file contains two entries with the same name.');
  });

  it('refuses what is no plugin, and says what is wrong with a manifest', async () => {
    expect(await refusal(join(outside, 'nothing'))).to.contain('does not exist; specify a plugin folder');
    await writeFile(join(outside, 'text.zip'), 'no zip at all');
    expect(await refusal(join(outside, 'text.zip'))).to.match(/^The zip file cannot be unpacked/);
    expect(await refusal(await zip({ 'readme.txt': 'x' }))).to.contain('It has no plugin.json at its root');
    expect(await refusal(await zip(pluginFiles({ slug: '../up' }, plain)))).to.contain(
      '"slug" must be lowercase letters',
    );
    expect(await refusal(await zip(pluginFiles({ host: '^9' }, plain)))).to.contain('It requires host ^9');
    expect(await refusal(await zip(pluginFiles({ autoActivate: true }, plain)))).to.contain('"autoActivate"');
  });

  it('refuses the same version, an older one, and to replace what comes with the host', async () => {
    await bench.folders.write('sample', { manifest: { version: '2.0.0' }, files: { 'index.js': plain } });
    await bench.folders.write('shipped', { manifest: { autoActivate: true }, files: { 'index.js': plain } });
    expect(await refusal(await zip(pluginFiles({ version: '2.0.0' }, plain)))).to.equal(
      "The plugin 'sample' 2.0.0 is already installed.",
    );
    expect(await refusal(await zip(pluginFiles({ version: '1.9.0' }, plain)))).to.equal(
      "Version 2.0.0 of the plugin 'sample' is installed; 1.9.0 is not newer.",
    );
    expect(await refusal(await zip(pluginFiles({ slug: 'shipped', version: '2.0.0' }, plain)))).to.contain(
      'ships with this host',
    );
  });

  it('refuses a version that an active plugin does not take', async () => {
    await bench.folders.write('sample', { files: { 'index.js': plain } });
    await bench.folders.write('user', { manifest: { requires: { sample: '^1' } }, files: { 'index.js': plain } });
    await bench.loader.activate('sample');
    await bench.loader.activate('user');
    expect(await refusal(await zip(pluginFiles({ version: '2.0.0' }, plain)))).to.contain(
      "The plugin 'user' requires 'sample' ^1, but this is version 2.0.0",
    );
  });

  it('runs the new version of an active plugin at once, with those that require it', async () => {
    await bench.folders.write('sample', { files: { 'index.js': plain } });
    await bench.folders.write('user', { manifest: { requires: { sample: '^1' } }, files: { 'index.js': plain } });
    await bench.loader.activate('sample');
    await bench.loader.activate('user');
    const heard: unknown[] = [];
    bench.services.hooks.addAction('upgraded_plugin', (...args) => void heard.push(args));
    const code = `export default { register(host) { host.log.info('register two'); }, upgrade(host, { from, to }) { host.log.info('upgrade ' + from + ' ' + to); } };`;
    expect(await bench.loader.install({ path: await zip(pluginFiles({ version: '1.1.0' }, code)) })).to.include({
      replaced: '1.0.0',
      version: '1.1.0',
    });
    expect(bench.status('sample')).to.include({ state: 'active', version: '1.1.0' });
    expect(bench.status('user').state).to.equal('active');
    const told = bench.services.lines
      .filter(({ level }) => level === 'info')
      .map(({ message, fields }) => `${String(fields['plugin'])} ${message}`);
    expect(told).to.deep.equal([
      'sample register',
      'user register',
      'sample register two',
      'sample upgrade 1.0.0 1.1.0',
      'user register',
    ]);
    expect(heard).to.deep.equal([['sample', { from: '1.0.0', to: '1.1.0' }]]);
    expect(await readdir(bench.folders.directory)).to.have.members(['sample', 'user']);
  });

  it('is followed by other processes, which then run the new version', async () => {
    await bench.folders.write('sample', { files: { 'index.js': plain } });
    await bench.loader.activate('sample');
    const other = bench.beside();
    await other.loader.start();
    await bench.loader.install({ path: await zip(pluginFiles({ version: '1.1.0' }, plain)) });
    await other.loader.sync();
    expect(other.loader.list().map(({ slug, version, state }) => `${slug} ${version} ${state}`)).to.deep.equal([
      'sample 1.1.0 active',
    ]);
    await other.loader.stop();
  });

  it('keeps a new plugin that cannot be activated, switched off with its reason', async () => {
    const { message } = await failureOf(
      bench.loader.install({
        path: await zip(pluginFiles({}, `export default { register() { throw new Error('no way'); } };`)),
        activate: true,
      }),
    );
    expect(message).to.contain('no way');
    expect(bench.status('sample')).to.include({ state: 'failed' });
  });

  it('removes the folder with the data when it is uninstalled, but not one that comes with the host', async () => {
    await bench.loader.install({ path: await zip(pluginFiles({}, plain)), activate: true });
    expect((await failureOf(bench.loader.uninstall('sample'))).message).to.contain(
      'deactivate it before you uninstall it',
    );
    await bench.loader.deactivate('sample');
    expect((await bench.loader.uninstall('sample')).folderRemoved).to.equal(true);
    expect(await readdir(bench.folders.directory)).to.deep.equal([]);
    expect(bench.loader.list()).to.deep.equal([]);
    expect(bench.services.stored.get('plugin_versions')).to.deep.equal({});

    await bench.loader.install({ path: await zip(pluginFiles({}, plain)) });
    await mkdir(join(bench.folders.directory, 'sample', '.git'));
    expect(
      (await failureOf(bench.loader.install({ path: await zip(pluginFiles({ version: '2.0.0' }, plain)) }))).message,
    ).to.contain("'sample' is a Git working copy; update it there");
    expect((await failureOf(bench.loader.uninstall('sample', { onlyWithFolder: true }))).message).to.contain(
      'its folder would stay',
    );
    expect((await bench.loader.uninstall('sample')).folderRemoved).to.equal(false);
    expect((await bench.loader.uninstall('sample', { deleteFiles: true })).folderRemoved).to.equal(true);
    expect(await readdir(bench.folders.directory)).to.deep.equal([]);

    await bench.folders.write('shipped', { manifest: { autoActivate: true }, files: { 'index.js': plain } });
    await bench.loader.discover();
    expect((await bench.loader.uninstall('shipped')).folderRemoved).to.equal(false);
    expect(await readdir(bench.folders.directory)).to.deep.equal(['shipped']);
  });
});

describe('plugins that come with the host', () => {
  it('lose their data and keep their folder when they are uninstalled, and are never replaced; copies are plugins like any other', async () => {
    const bench = await createLoaderBench({ shipped: ['shipped'] });
    for (const slug of ['shipped', 'copied']) await bench.folders.write(slug, { files: { 'index.js': plain } });
    await bench.loader.start();
    expect([bench.status('shipped').shipped, bench.status('copied').shipped]).to.deep.equal([true, false]);
    expect([
      (await bench.loader.uninstall('shipped', { deleteFiles: true })).folderRemoved,
      (await bench.loader.uninstall('copied', { deleteFiles: true })).folderRemoved,
    ]).to.deep.equal([false, true]);
    expect(
      bench.services.lines.filter(({ message }) => message === 'uninstall').map(({ fields }) => fields['plugin']),
    ).to.deep.equal(['shipped', 'copied']);
    expect(await readdir(bench.folders.directory)).to.deep.equal(['shipped']);
    const newer = await bench.folders.write('newer', {
      manifest: { slug: 'shipped', version: '2.0.0' },
      files: { 'index.js': plain },
    });
    expect((await failureOf(bench.loader.install({ path: newer }))).message).to.contain(
      'ships with this host and is updated with it',
    );
    await bench.loader.stop();
    await bench.folders.remove();
  });

  it('are those of the checkout', async () => {
    const host = await createTestHost({ plugins: 'found' });
    const shipped = host.plugins
      .list()
      .filter((plugin) => plugin.shipped)
      .map(({ slug }) => slug);
    await host.stop();
    expect(shipped).to.deep.equal(['hello', 'orders', 'sandbox', 'svc']);
  });
});

describe('plugins that must be used', () => {
  let bench: LoaderBench;
  beforeEach(async () => {
    bench = await createLoaderBench();
  });
  afterEach(async () => {
    await bench.loader.stop();
    await bench.folders.remove();
  });

  it('are always active, started first, and say so when somebody wants them off', async () => {
    await bench.folders.write('a-plugin', { files: { 'index.js': plain } });
    await bench.folders.write('must-use/guard', { manifest: { slug: 'guard' }, files: { 'index.js': plain } });
    bench.services.stored.set('active_plugins', ['a-plugin']);
    await bench.loader.start();
    expect(bench.status('guard')).to.include({ state: 'active', mustUse: true });
    expect(
      bench.services.lines.filter(({ message }) => message === 'register').map(({ fields }) => fields['plugin']),
    ).to.deep.equal(['guard', 'a-plugin']);
    expect((await failureOf(bench.loader.deactivate('guard'))).message).to.equal(
      "The plugin 'guard' is a must-use plugin and cannot be deactivated; move its folder out of 'must-use' and restart.",
    );
    expect((await failureOf(bench.loader.uninstall('guard'))).message).to.contain('cannot be uninstalled');
    await bench.loader.activate('guard');
    expect(bench.services.stored.get('active_plugins')).to.deep.equal(['a-plugin']);
  });

  it('do not take the site down when they fail, and are tried again when asked for', async () => {
    const folder = await bench.folders.write('must-use/guard', {
      manifest: { slug: 'guard' },
      files: { 'index.js': `export default { register() { throw new Error('broken'); } };` },
    });
    await bench.loader.start();
    await bench.loader.sync();
    expect(bench.status('guard')).to.deep.include({ state: 'failed', mustUse: true });
    expect(bench.services.lines.filter(({ level }) => level === 'error')).to.have.length(1);
    await writeFile(join(folder, 'index.js'), plain);
    await bench.loader.activate('guard');
    expect(bench.status('guard')).to.include({ state: 'active', failure: null, lastError: null });
  });
});

describe('health of plugins', () => {
  it('is what they say of themselves, and a check that fails or never ends is critical', async () => {
    const bench = await createLoaderBench();
    const checks = {
      fine: `async health() { return [{ status: 'good', label: 'All well', description: '' }]; }`,
      broken: `health() { throw new Error('no idea'); }`,
      odd: `health: () => 'well'`,
      silent: `health: () => new Promise(() => {})`,
      quiet: '',
    };
    for (const [slug, check] of Object.entries(checks)) {
      await bench.folders.write(slug, { files: { 'index.js': `export default { register() {}, ${check} };` } });
      await bench.loader.activate(slug);
    }
    const asked = bench.loader.health();
    await bench.clock.advance(10_000);
    const told = Object.fromEntries(
      (await asked).map(({ slug, results }) => [
        slug,
        results.map(({ status, description }) => `${status} ${description}`),
      ]),
    );
    expect(told).to.deep.equal({
      fine: ['good '],
      broken: ['critical no idea'],
      odd: ["critical 'health' must return an array of {status, label, description}."],
      silent: [
        'critical It did not end within 10 seconds. Do slow work in a job, and await nothing that may never settle.',
      ],
    });
    expect((await failureOf(bench.loader.health('nobody'))).message).to.contain('is not running');
    await bench.loader.stop();
    await bench.folders.remove();
  });
});
