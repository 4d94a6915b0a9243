import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { discover } from '../../host/loader/discover.ts';
import type { Discovery } from '../../host/loader/discover.ts';
import { describeUnknown, findNear } from '../../host/loader/manifest.ts';
import { createPluginFolders } from './helpers/plugin-folders.ts';
import type { PluginFolders } from './helpers/plugin-folders.ts';

const entry = { 'index.js': 'export default { register() {} };' };

describe('plugin manifests', () => {
  let folders: PluginFolders;
  beforeEach(async () => {
    folders = await createPluginFolders();
  });
  afterEach(() => folders.remove());

  const look = (hostVersion = '1.0.0'): Promise<Discovery> =>
    discover({ pluginDirs: [folders.directory], hostVersion });
  const faultOf = async (
    manifest: object,
    files: Readonly<Record<string, string>> = entry,
  ): Promise<string | undefined> => {
    await folders.write('sample', { manifest, files });
    return (await look('1.2.0')).broken.get('sample');
  };

  it('are read with their defaults', async () => {
    const directory = await folders.write('sample', {
      manifest: { main: undefined, author: 'unknown members are left alone' },
      files: entry,
    });
    const { plugins, broken } = await look('1.2.0');
    expect([...broken]).to.deep.equal([]);
    expect(plugins.get('sample')).to.deep.include({ directory, entry: join(directory, 'index.js') });
    expect(plugins.get('sample')?.manifest).to.include({ main: 'index.js', description: '' });
    expect(plugins.get('sample')?.manifest.requires).to.deep.equal({});
  });

  it('are read with members that have no effect, of which those with a typing error are named', async () => {
    await folders.write('sample', {
      manifest: { require: { svc: '^1' }, autoactivate: true, license: 'MIT', main: undefined },
      files: entry,
    });
    const unknown = (await look('1.2.0')).plugins.get('sample')?.unknown ?? [];
    expect(unknown).to.deep.equal(['require', 'autoactivate', 'license']);
    expect(unknown.map(findNear)).to.deep.equal(['requires', 'autoActivate', undefined]);
    expect(describeUnknown('require')).to.match(/"require", which has no effect\. Did you mean "requires"\?/);
    expect(describeUnknown('license')).to.match(/Known are slug, name, .*author\./);
  });

  it('make a folder a plugin: others are ignored, as is a plugin folder that does not exist', async () => {
    await mkdir(join(folders.directory, 'package'));
    await writeFile(join(folders.directory, 'package', 'index.js'), '');
    await writeFile(join(folders.directory, 'file.txt'), '');
    const { plugins, broken } = await discover({
      pluginDirs: [folders.directory, join(folders.directory, 'missing')],
      hostVersion: '1.0.0',
    });
    expect([plugins.size, broken.size]).to.deep.equal([0, 0]);
  });

  it('name each fault in a sentence', async () => {
    const cases: readonly (readonly [object, RegExp])[] = [
      [{ slug: 'Sample' }, /^"slug" must be lowercase letters, digits and hyphens/],
      [{ slug: 'other' }, /^"slug" is 'other' but the folder is named 'sample'/],
      [{ name: '' }, /^"name" must be a non-empty text\.$/],
      [{ version: '1' }, /^"version" must be a semantic version \(1\.0\.0\)\.$/],
      [{ version: undefined }, /^"version" is missing; it must be a semantic version/],
      [{ host: 'newest of all' }, /^"host" must be a range of host versions/],
      [{ host: '^2' }, /^It requires host \^2, but this is host 1\.2\.0/],
      [{ requires: { svc: 'some' } }, /^"requires" must be an object of slugs and version ranges/],
      [{ requires: ['svc'] }, /^"requires" must be an object of slugs and version ranges/],
      [{ autoActivate: 'yes' }, /^"autoActivate" must be true or false\.$/],
      [{ main: 'missing.js' }, /^"main" is 'missing\.js', but this file does not exist/],
      [{ main: '../escape.js' }, /^"main" is '\.\.\/escape\.js', which is outside/],
      [{ main: 'lib/../../escape.js' }, /which is outside/],
      [{ main: '/etc/passwd' }, /which is outside/],
      [{ main: '.' }, /which is outside/],
      [{ name: 5, version: '1' }, /^"name" must be .+ "version" must be /],
    ];
    for (const [manifest, expected] of cases)
      expect(await faultOf(manifest), JSON.stringify(manifest)).to.match(expected);
  });

  it('must be JSON, and an object', async () => {
    expect(await faultOf({}, { ...entry, 'plugin.json': '{"slug":' })).to.match(/^plugin\.json is not JSON: /);
    expect(await faultOf({}, { ...entry, 'plugin.json': '[]' })).to.equal('plugin.json must contain an object.');
  });

  it('may not take a name of the host itself', async () => {
    await folders.write('admin', { files: entry });
    expect((await look()).broken.get('admin')).to.match(/reserved for the host/);
  });

  it('need an entry module', async () => {
    expect(await faultOf({ main: undefined }, { 'other.js': '' })).to.match(/no index\.ts or index\.js/);
  });

  it('may not reach out of the folder by a link', async () => {
    const directory = await folders.write('sample', { manifest: { main: 'link.js' }, files: entry });
    await writeFile(join(folders.directory, 'outside.js'), '');
    await symlink(join(folders.directory, 'outside.js'), join(directory, 'link.js'));
    expect((await look()).broken.get('sample')).to.match(/outside the plugin folder/);
  });

  it('of the earlier plugin folder count where two have the same slug', async () => {
    const others = await createPluginFolders();
    await folders.write('sample', { manifest: { version: '1.0.0' }, files: entry });
    await others.write('sample', { manifest: { version: '2.0.0' }, files: entry });
    const { plugins } = await discover({ pluginDirs: [others.directory, folders.directory], hostVersion: '1.0.0' });
    expect(plugins.get('sample')).to.have.nested.property('manifest.version', '2.0.0');
    expect(plugins.get('sample')?.hidden).to.deep.equal([join(folders.directory, 'sample')]);
    const { plugins: developed } = await discover({
      ...{ pluginDirs: [folders.directory], hostVersion: '1.0.0' },
      developed: [join(others.directory, 'sample')],
    });
    expect(developed.get('sample')).to.not.have.property('hidden');
    await others.write('sample', { manifest: { version: 'x' }, files: entry });
    const { broken } = await discover({ pluginDirs: [others.directory, folders.directory], hostVersion: '1.0.0' });
    expect(broken.get('sample')).to.match(
      new RegExp(`"version".*\\. It hides the one of the same name in ${join(folders.directory, 'sample')}\\.$`),
    );
    await others.remove();
  });

  it('are looked at for the named plugins alone where only those are wanted', async () => {
    await folders.write('sample', { files: entry });
    await folders.write('other', { manifest: { version: 'x' }, files: entry });
    const { plugins, broken } = await discover({
      pluginDirs: [folders.directory],
      hostVersion: '1.0.0',
      only: ['sample'],
    });
    expect([[...plugins.keys()], [...broken.keys()]]).to.deep.equal([['sample'], []]);
  });
});
