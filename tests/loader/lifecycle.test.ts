import { expect } from 'chai';
import { createLoaderBench } from './helpers/loader-bench.ts';
import type { Loader } from '../../host/loader/loader.ts';
import type { LoaderBench } from './helpers/loader-bench.ts';

/** Says in the log what of it runs. */
const telling = (slug: string, more = ''): Record<string, string> => ({
  'index.js': `export default {
    migrations: [{ id: '0001_first', async up() {} }],
    register(host) { host.log.info('register'); host.onStop(() => host.log.info('stop')); ${more} },
    activate(host) { host.log.info('activate'); },
    deactivate(host) { host.log.info('deactivate'); },
    uninstall(host) { host.log.info('uninstall'); },
  };`,
});

describe('life of a plugin', () => {
  let bench: LoaderBench;
  beforeEach(async () => {
    bench = await createLoaderBench();
  });
  afterEach(() => bench.folders.remove());

  const told = (services = bench.services): string[] =>
    services.lines
      .filter(({ level, fields }) => level === 'info' && fields['plugin'])
      .map(({ message, fields }) => `${String(fields['plugin'])} ${message}`);

  it('is inactive until someone activates it', async () => {
    await bench.folders.write('sample', { files: telling('sample') });
    await bench.loader.start();
    expect(bench.status('sample')).to.include({
      state: 'inactive',
      name: 'Plugin sample',
      version: '1.0.0',
      failure: null,
    });
    expect(told()).to.deep.equal([]);
  });

  it('registers on each start and activates once', async () => {
    await bench.folders.write('sample', { files: telling('sample') });
    await bench.loader.start();
    const heard: unknown[] = [];
    bench.services.hooks.addAction('activated_plugin', (slug: string) => void heard.push(['activated', slug]));
    bench.services.hooks.addAction('deactivated_plugin', (slug: string) => void heard.push(['deactivated', slug]));
    await bench.loader.activate('sample');
    await bench.loader.activate('sample');
    expect(bench.status('sample').state).to.equal('active');
    await bench.loader.stop();
    expect(told()).to.deep.equal(['sample register', 'sample activate', 'sample stop']);

    const next = bench.beside();
    await next.loader.start();
    expect(told(next.services)).to.deep.equal(['sample register']);
    expect(heard).to.deep.equal([['activated', 'sample']]);
  });

  it('has its tables before it registers', async () => {
    await bench.folders.write('sample', {
      files: telling('sample', `if (!host.options) throw new Error('no options');`),
    });
    await bench.loader.start();
    await bench.loader.activate('sample');
    expect(bench.migrated).to.deep.equal(['sample 0001_first']);
  });

  it('starts after what it requires, whatever the names', async () => {
    await bench.folders.write('a-user', { manifest: { requires: { 'z-base': '^1' } }, files: telling('a-user') });
    await bench.folders.write('z-base', { files: telling('z-base') });
    bench.services.stored.set('active_plugins', ['a-user', 'z-base']);
    let loaded = false;
    bench.services.hooks.addAction('plugins_loaded', () => void (loaded = told().length === 2));
    await bench.loader.start();
    expect(told()).to.deep.equal(['z-base register', 'a-user register']);
    expect(loaded).to.equal(true);
    await bench.loader.stop();
    expect(told().slice(2)).to.deep.equal(['a-user stop', 'z-base stop']);
  });

  it('waits for what it requires and starts when that is activated', async () => {
    await bench.folders.write('user', { manifest: { requires: { base: '^1' } }, files: telling('user') });
    await bench.folders.write('base', { files: telling('base') });
    bench.services.stored.set('active_plugins', ['user']);
    await bench.loader.start();
    expect(bench.status('user').failure).to.include({
      stage: 'requires',
      message: "It requires 'base', which is not active; activate 'base' first.",
    });
    await bench.loader.activate('base');
    expect(bench.status('user')).to.include({ state: 'active', failure: null });
    expect(told()).to.deep.equal(['base register', 'base activate', 'user register']);
  });

  it('cannot be activated without what it requires, nor when nobody knows it', async () => {
    await bench.folders.write('user', { manifest: { requires: { base: '^1' } }, files: telling('user') });
    await bench.folders.write('broken', { manifest: { version: 'x' }, files: telling('broken') });
    await bench.loader.start();
    const reason = (slug: string): Promise<string> =>
      bench.loader.activate(slug).then(
        () => 'activated',
        (error: Error) => error.message,
      );
    expect(await reason('user')).to.equal(
      "The plugin 'user' cannot be activated. It requires 'base' ^1, which is not installed.",
    );
    expect(await reason('nobody')).to.equal("The plugin 'nobody' does not exist in the plugin folders.");
    expect(await reason('broken')).to.match(
      /^The plugin 'broken' cannot be used. "version" must be a semantic version/,
    );
    expect(bench.status('user').state).to.equal('inactive');
    expect(bench.status('broken')).to.deep.include({ state: 'failed' });
    expect(bench.status('broken').failure?.stage).to.equal('manifest');
  });

  it('is not deactivated while an active plugin requires it', async () => {
    await bench.folders.write('base', { files: telling('base') });
    await bench.folders.write('user', { manifest: { requires: { base: '^1' } }, files: telling('user') });
    await bench.loader.start();
    await bench.loader.activate('base');
    await bench.loader.activate('user');
    const error = await bench.loader.deactivate('base').catch((reason: unknown) => reason as Error);
    expect((error as Error).message).to.equal("The plugin 'base' is required by 'user'; deactivate those first.");
    expect(bench.status('base').state).to.equal('active');
    await bench.loader.deactivate('user');
    await bench.loader.deactivate('base');
    expect(told().slice(-4)).to.deep.equal(['user deactivate', 'user stop', 'base deactivate', 'base stop']);
    expect(bench.services.stored.get('active_plugins')).to.deep.equal([]);
  });

  it('does not start where it is left out, nor do those that require it, and can be deactivated there', async () => {
    await bench.folders.write('base', { files: telling('base') });
    await bench.folders.write('user', { manifest: { requires: { base: '^1' } }, files: telling('user') });
    await bench.folders.write('auto', { manifest: { autoActivate: true }, files: telling('auto') });
    await bench.loader.start();
    for (const slug of ['base', 'user']) await bench.loader.activate(slug);
    const states = (loader: Loader) => loader.list().map(({ slug, state, failure }) => [slug, state, failure?.message]);
    const reason =
      'This start leaves it out: by the environment variable PLUGINS, or because it ended the starts before. Restart without PLUGINS.';
    const some = bench.beside({ leftOut: ['base'] }).loader;
    await some.start();
    expect(states(some)).to.deep.equal([
      ['auto', 'active', undefined],
      ['base', 'failed', reason],
      ['user', 'failed', "It requires 'base', which is not active; activate 'base' first."],
    ]);
    const none = bench.beside({ leftOut: 'all' }).loader;
    await none.start();
    expect(states(none)).to.deep.equal(['auto', 'base', 'user'].map((slug) => [slug, 'failed', reason]));
    expect((await none.activate('base').catch((error: Error) => error))?.message).to.equal(
      `The plugin 'base' cannot be activated. ${reason}`,
    );
    expect(bench.services.stored.get('active_plugins')).to.deep.equal(['auto', 'base', 'user']);
    await none.deactivate('user');
    expect(bench.services.stored.get('active_plugins')).to.deep.equal(['auto', 'base']);
  });

  it('is uninstalled only when it is inactive', async () => {
    await bench.folders.write('sample', { files: telling('sample') });
    await bench.loader.start();
    await bench.loader.activate('sample');
    expect(await bench.loader.uninstall('sample').catch((error: Error) => error.message)).to.match(
      /is active; deactivate it/,
    );
    await bench.loader.deactivate('sample');
    await bench.loader.uninstall('sample');
    expect(told().at(-1)).to.equal('sample uninstall');
    expect(bench.services.registered()).to.deep.equal([]);
  });

  it('begins by itself where it ships as active, until an administrator switches it off', async () => {
    await bench.folders.write('shipped', {
      manifest: { autoActivate: true, requires: { base: '^1' } },
      files: telling('shipped'),
    });
    await bench.folders.write('base', { manifest: { autoActivate: true }, files: telling('base') });
    await bench.loader.start();
    expect(told()).to.deep.equal(['base register', 'base activate', 'shipped register', 'shipped activate']);
    await bench.loader.deactivate('shipped');
    await bench.loader.stop();
    const next = bench.beside();
    await next.loader.start();
    expect(told(next.services)).to.deep.equal(['base register']);
    await next.loader.activate('shipped');
    const last = bench.beside();
    await last.loader.start();
    expect(told(last.services)).to.deep.equal(['base register', 'shipped register']);
  });

  it('follows what another process of the site activates and deactivates', async () => {
    await bench.folders.write('sample', { files: telling('sample') });
    await bench.loader.start();
    const other = bench.beside();
    await other.loader.start();
    await other.loader.activate('sample');
    await bench.loader.sync();
    expect(bench.status('sample').state).to.equal('active');
    expect(told()).to.deep.equal(['sample register']);
    await other.loader.deactivate('sample');
    await bench.loader.sync();
    expect(bench.status('sample').state).to.equal('inactive');
    expect(told()).to.deep.equal(['sample register', 'sample stop']);
  });

  it('does not wait for itself when the change of the option comes back as a sync', async () => {
    await bench.folders.write('sample', { files: telling('sample') });
    const { options } = bench.services;
    const plain = options.compareAndSet;
    options.compareAndSet = async (...args) => {
      const done = await plain(...args);
      await bench.loader.sync();
      return done;
    };
    await bench.loader.start();
    await bench.loader.activate('sample');
    await bench.loader.deactivate('sample');
    expect(bench.status('sample').state).to.equal('inactive');
  });

  it('is shown as failed when its folder is gone', async () => {
    bench.services.stored.set('active_plugins', ['gone']);
    await bench.loader.start();
    expect(bench.status('gone').failure).to.deep.include({ stage: 'discover' });
    await bench.loader.deactivate('gone');
    expect(bench.loader.list()).to.deep.equal([]);
  });
});
