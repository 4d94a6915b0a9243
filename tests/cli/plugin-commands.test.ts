import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createTestHost, type TestHost } from '#testing';
import { describeDialects } from '../helpers/dialects.ts';
import { pluginFiles, writeZip } from '../loader/helpers/zips.ts';

const entry = `export default {
  register() {},
  async uninstall(host) { await host.options.delete('sample_data'); },
  health: () => [{ status: 'recommended', label: 'A newer paper is out', description: '' }],
};`;

const leaky = `export default {
  migrations: [{ id: '0001_things', async up(knex) {
    await knex.schema.createTable('sample_things', (table) => void table.string('name'));
    await knex('sample_things').insert({ name: 'first' });
  } }],
  register(host) { host.options.registerSetting('sample_color', { schema: { type: 'string' } }); },
  async activate(host) {
    await host.cron.schedule('hourly', 'sample_hourly');
    await host.cron.scheduleSingle(host.clock.now() + 3_600_000, 'sample_once', [1]);
  },
};`;

/** A row of `plugin list`. */
const listed = { slug: 'sample', failure: '', last_error: '', warnings: '' };

describeDialects('the plugin commands', (_open, { location }) => {
  let host: TestHost;
  let folder = '';
  let plugins = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-plugin-commands-'));
    plugins = join(folder, 'plugins');
    const { databaseUrl, dataDir } = location();
    host = await createTestHost({
      database: databaseUrl ?? dataDir,
      plugins: 'found',
      pluginDirs: [plugins],
      ...(databaseUrl !== null && { env: { DATA_DIR: folder } }),
    });
  });
  afterEach(async () => {
    await host.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** What is printed, with the exit code before it when that is not 0. */
  async function run(...argv: string[]): Promise<string> {
    const { code, out, err } = await host.cli('plugin', ...argv);
    return code === 0 ? out.trimEnd() : `${code} ${err.trimEnd()}`;
  }
  const json = async (...argv: string[]): Promise<unknown> => JSON.parse(await run(...argv, '--json'));
  async function source(manifest: object = {}, code = entry): Promise<string> {
    const path = join(folder, 'source');
    await mkdir(path, { recursive: true });
    for (const [name, content] of Object.entries(pluginFiles(manifest, code)))
      await writeFile(join(path, name), content);
    return path;
  }

  it('install from a folder and a zip, and list what there is', async () => {
    expect(await run('list')).to.equal('None.');
    expect(await json('install', await source())).to.deep.equal({
      slug: 'sample',
      version: '1.0.0',
      replaced: '',
      state: 'inactive',
    });
    const zip = await writeZip({
      file: join(folder, 'sample.zip'),
      contents: pluginFiles({ version: '1.1.0' }, entry),
    });
    expect(await json('install', zip, '--activate')).to.deep.equal({
      slug: 'sample',
      version: '1.1.0',
      replaced: '1.0.0',
      state: 'active',
    });
    expect(await json('list')).to.deep.equal([{ ...listed, version: '1.1.0', state: 'active' }]);
  });

  it('activate and deactivate, and say what is in the way', async () => {
    await run('install', await source());
    expect(await run('activate', 'sample')).to.equal('slug: sample\nstate: active');
    await run('install', await source({ slug: 'user', requires: { sample: '^1' } }), '--activate');
    expect(await run('deactivate', 'sample')).to.equal(
      "1 Error: The plugin 'sample' is required by 'user'; deactivate those first.",
    );
    await run('deactivate', 'user');
    expect(await run('deactivate', 'sample')).to.equal('slug: sample\nstate: inactive');
    expect(await run('activate', 'nobody')).to.equal(
      "1 Error: The plugin 'nobody' does not exist in the plugin folders.",
    );
  });

  it('leave a host ready when another process uninstalls a plugin that ran in it', async () => {
    const code = `export default {
      migrations: [{ id: '0001_a', up: (knex) => knex.schema.createTable('sample_things', (table) => table.increments()) }],
      register() {},
      uninstall: (host) => host.database.knex.schema.dropTable('sample_things'),
    };`;
    await run('install', await source({}, code), '--activate');
    expect((await host.fetch('/readyz')).status).to.equal(200);
    await run('deactivate', 'sample');
    // What the other process does to the database.
    await host.database.knex('migrations').where({ owner: 'sample' }).delete();
    await host.database.knex.schema.dropTable('sample_things');
    expect((await host.fetch('/readyz')).status).to.equal(200);
    await run('activate', 'sample');
    expect(await host.database.knex.schema.hasTable('sample_things')).to.equal(true);
    expect((await host.fetch('/readyz')).status).to.equal(200);
  });

  it('uninstall a plugin without uninstall: its settings, events and jobs go, its tables stay for a new installation', async () => {
    const path = await source({}, leaky);
    await run('install', path, '--activate');
    await host.options.update('sample_color', 'red');
    expect((await host.cron.list()).filter(({ hook }) => hook.startsWith('sample_'))).to.have.length(2);
    await run('deactivate', 'sample');
    expect(await host.options.get('sample_color')).to.equal('red');
    expect(await json('uninstall', 'sample')).to.deep.equal({
      slug: 'sample',
      folder: 'removed',
      data: "What 0001_things made in the database stays, because the plugin has no 'uninstall'. A new installation uses it.",
    });
    expect([
      await host.options.get('sample_color'),
      (await host.cron.list()).filter(({ hook }) => hook.startsWith('sample_')),
    ]).to.deep.equal([false, []]);
    expect(await json('install', path, '--activate')).to.include({ state: 'active' });
    expect(await host.database.knex('sample_things').pluck('name')).to.deep.equal(['first']);
  });

  it('show in the list at which stage a plugin failed', async () => {
    expect(
      await run(
        'install',
        await source({}, `export default { register() { throw new Error('no way'); } };`),
        '--activate',
      ),
    ).to.match(/^1 Error: .*no way/);
    expect(await json('list')).to.deep.equal([
      { ...listed, version: '1.0.0', state: 'failed', failure: 'register: no way' },
    ]);
  });

  it('refuse what is no plugin', async () => {
    expect(await run('install', join(folder, 'nothing'))).to.match(/^1 Error: .* does not exist/);
    expect(await run('install')).to.match(/^1 Error: missing required argument 'path'/);
    expect(await readdir(plugins).catch(() => [])).to.deep.equal([]);
  });

  it('uninstall what is inactive, with its data and its folder', async () => {
    await run('install', await source(), '--activate');
    await host.options.update('sample_data', 1);
    expect(await run('uninstall', 'sample')).to.equal(
      "1 Error: The plugin 'sample' is active; deactivate it before you uninstall it.",
    );
    await run('deactivate', 'sample');
    expect(await json('uninstall', 'sample')).to.deep.equal({ slug: 'sample', folder: 'removed' });
    expect([await host.options.get('sample_data'), await readdir(plugins)]).to.deep.equal([false, []]);
    await mkdir(join(plugins, 'shipped'));
    for (const [name, content] of Object.entries(pluginFiles({ slug: 'shipped', autoActivate: true }, entry)))
      await writeFile(join(plugins, 'shipped', name), content);
    expect(await json('uninstall', 'shipped')).to.deep.equal({ slug: 'shipped', folder: 'kept' });
    expect(await readdir(plugins)).to.deep.equal(['shipped']);
  });

  it('keep on uninstall a folder that was not installed, or copied from one that was, unless it is asked for', async () => {
    await run('install', await source());
    const own = join(plugins, 'own');
    await mkdir(own);
    for (const [name, content] of Object.entries({
      ...pluginFiles({ slug: 'own' }, entry),
      '.installed': await readFile(join(plugins, 'sample', '.installed')),
    }))
      await writeFile(join(own, name), content);
    await run('activate', 'own');
    await run('deactivate', 'own');
    expect(await json('uninstall', 'own')).to.deep.equal({
      slug: 'own',
      folder: 'kept',
      next: `'plugin install' did not create ${own}, or it is a Git working copy. To delete it too, run: plugin uninstall own --delete-files`,
    });
    expect(await readdir(own)).to.include('index.js');
    expect(await json('uninstall', 'own', '--delete-files')).to.deep.equal({ slug: 'own', folder: 'removed' });
    expect(await readdir(plugins)).to.deep.equal(['sample']);
  });

  it('ask running plugins how they are, one or all', async () => {
    expect(await run('health')).to.equal('None.');
    await run('install', await source(), '--activate');
    const finding = { slug: 'sample', status: 'recommended', label: 'A newer paper is out', description: '' };
    expect([await json('health'), await json('health', 'sample')]).to.deep.equal([[finding], [finding]]);
    expect(await run('health', 'nobody')).to.equal(
      "1 Error: The plugin 'nobody' is not running, so its health cannot be checked.",
    );
    await host.users.create({
      login: 'ada',
      email: 'ada@example.com',
      password: 'correct horse',
      role: 'administrator',
    });
    expect((await host.cli('doctor')).out).to.match(/plugin health +ok +sample: A newer paper is out/);
  });

  it('make a new plugin that runs and answers', async () => {
    expect(await json('new', 'my-plugin')).to.include({ slug: 'my-plugin', folder: join(plugins, 'my-plugin') });
    expect(
      (JSON.parse(await readFile(join(plugins, 'my-plugin', 'plugin.json'), 'utf8')) as { slug: unknown }).slug,
    ).to.equal('my-plugin');
    expect(await run('activate', 'my-plugin')).to.contain('state: active');
    const account = { login: 'ada', email: 'a@example.com', password: 'correct horse', role: 'editor' };
    const user = await host.users.create(account);
    const route = '/my-plugin/v1/items';
    const { status, body } = await host.rest.dispatch(route, { method: 'POST', json: { title: 'One' }, user });
    expect([status, (await host.rest.dispatch(route, { user })).body]).to.deep.equal([201, [body]]);
    expect(await run('new', 'my-plugin')).to.match(/^1 Error: The folder .*my-plugin already exists\./);
    const elsewhere = join(plugins, 'must-use', 'guard');
    await mkdir(elsewhere, { recursive: true });
    for (const [name, content] of Object.entries(pluginFiles({ slug: 'guard' }, entry)))
      await writeFile(join(elsewhere, name), content);
    expect(await run('new', 'guard')).to.equal(
      `1 Error: The plugin 'guard' already exists in ${elsewhere}; choose another name.`,
    );
    expect(await run('new', 'core')).to.equal("1 Error: 'core' is reserved for the host; choose another name.");
    expect(await run('new', '../up')).to.equal(
      "1 Error: '../up' is not a valid plugin name; use lowercase letters, digits and hyphens, starting with a letter.",
    );
    expect(await readdir(plugins)).to.deep.equal(['must-use', 'my-plugin']);
  });
});
