import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { RestError } from '#plugin-api';
import type { RestRequest } from '#plugin-api';
import { createLoaderBench } from './helpers/loader-bench.ts';
import type { LoaderBench } from './helpers/loader-bench.ts';
import { until } from '../helpers/until.ts';

const good = { 'index.js': `export default { register(host) { host.hooks.addFilter('good', () => 'still here'); } };` };
/** Registers a bit of everything before it fails. */
const registering = `
  host.hooks.addAction('act', () => {}); host.rest.registerRoute('sample/v1', '/x', { handler: () => 1 }); host.cli.addCommand({ name: 'sample' });
  host.admin.addPage({ slug: 'sample' }); host.cron.addSchedule('often', 60, 'Often'); host.clock.every(1000, () => {});`;

describe('quarantine of plugins', () => {
  let bench: LoaderBench;
  beforeEach(async () => {
    bench = await createLoaderBench();
    await bench.folders.write('good', { files: good });
  });
  afterEach(() => bench.folders.remove());

  const bad: readonly (readonly [title: string, code: string, stage: string, message: RegExp])[] = [
    ['throws when it is imported', `throw new Error('import went wrong');`, 'import', /^import went wrong$/],
    ['has a mistake in its syntax', `export default {`, 'import', /./],
    ['imports what is not there', `import './missing.js';`, 'import', /missing\.js/],
    [
      'has no default export',
      `export const register = 1;`,
      'import',
      /index\.js has no default export; write: export default/,
    ],
    ['has no register', `export default {};`, 'import', /has no function 'register'/],
    [
      'has migrations that are no list',
      `export default { migrations: {}, register() {} };`,
      'import',
      /'migrations' .* must be an array/,
    ],
    [
      'has a migration without id',
      `export default { migrations: [{ id: '0001_a', up() {} }, { up() {} }], register() {} };`,
      'import',
      /^Migration 2 in the default export of index\.js has no 'id'\. Give it one that never changes, such as '0001_items'\.$/,
    ],
    [
      'has a migration without work',
      `export default { migrations: [{ id: '0001_a' }], register() {} };`,
      'import',
      /^The migration '0001_a' in the default export of index\.js has no function 'up'\.$/,
    ],
    [
      'throws in register',
      `export default { register(host) { ${registering} throw new Error('register went wrong'); } };`,
      'register',
      /^register went wrong$/,
    ],
    [
      'rejects in register',
      `export default { async register(host) { ${registering} throw 'a text'; } };`,
      'register',
      /^a text$/,
    ],
    [
      'registers a route twice',
      `export default { register(host) { ${registering} ${registering} } };`,
      'register',
      /registered twice/,
    ],
    [
      'throws in activate',
      `export default { register(host) { ${registering} }, activate() { throw new Error('activate went wrong'); } };`,
      'activate',
      /^activate went wrong$/,
    ],
  ];

  for (const [title, code, stage, message] of bad) {
    it(`undoes and disables a plugin that ${title}, and starts the site without it`, async () => {
      await bench.folders.write('sample', { files: { 'index.js': code } });
      await bench.loader.start();
      await bench.loader.activate('good');
      const before = bench.services.registered();
      const error = await bench.loader.activate('sample').then(
        () => null,
        (reason: unknown) => reason as Error,
      );
      expect(error?.message).to.match(new RegExp(`^The plugin 'sample' was disabled after an error in '${stage}': `));
      expect(bench.services.registered()).to.deep.equal(before);
      expect(bench.clock.pending()).to.equal(0);
      const { state, failure } = bench.status('sample');
      expect(state).to.equal('failed');
      expect(failure).to.include({ stage, at: bench.clock.now() });
      expect(failure?.message).to.match(message).and.not.include(bench.folders.directory);
      expect(bench.services.stored.get('plugin_failures')).to.deep.equal({ sample: failure });
      expect(bench.services.stored.get('active_plugins')).to.deep.equal(['good']);
      expect(bench.services.hooks.applyFilters('good', '')).to.equal('still here');
    });
  }

  it('leaves an active plugin that fails when the site starts out of this process alone', async () => {
    await bench.folders.write('sample', {
      files: { 'index.js': `globalThis.sampleTries = (globalThis.sampleTries ?? 0) + 1; throw new Error('broken');` },
    });
    bench.services.stored.set('active_plugins', ['sample', 'good']);
    await bench.loader.start();
    expect(bench.status('good').state).to.equal('active');
    expect(bench.status('sample').failure).to.include({ stage: 'import', message: 'broken' });
    await bench.loader.sync();
    expect((globalThis as { sampleTries?: number }).sampleTries).to.equal(1);
    // Other processes run it on, if it starts there, and so does the next start.
    expect(bench.services.stored.get('active_plugins')).to.deep.equal(['sample', 'good']);
    await bench.loader.stop();
    const next = bench.beside();
    await next.loader.start();
    expect(next.loader.list().map(({ slug, state }) => `${slug} ${state}`)).to.deep.equal([
      'good active',
      'sample failed',
    ]);
  });

  it('does not start what requires a plugin that failed, and says so', async () => {
    await bench.folders.write('sample', { files: { 'index.js': `throw new Error('broken');` } });
    await bench.folders.write('user', { manifest: { requires: { sample: '*' } }, files: good });
    bench.services.stored.set('active_plugins', ['user', 'sample']);
    await bench.loader.start();
    expect(bench.status('user').failure?.message).to.equal("It requires 'sample', which is not running.");
    expect(bench.services.stored.get('active_plugins')).to.deep.equal(['user', 'sample']);
  });

  it('tries a plugin that ships with the host again, without being asked', async () => {
    const world = globalThis as { shippedFails?: boolean };
    world.shippedFails = true;
    const shipped = await createLoaderBench({ shipped: ['sample'] });
    await shipped.folders.write('sample', {
      manifest: { autoActivate: true },
      files: {
        'index.js': `export default { register() { if (globalThis.shippedFails) throw new Error('not yet'); } };`,
      },
    });
    await shipped.loader.start();
    expect(shipped.status('sample').failure).to.include({ stage: 'register', message: 'not yet' });
    world.shippedFails = false;
    await shipped.clock.advance(60_000);
    await until('the plugin runs', () => shipped.status('sample').state === 'active');
    expect(shipped.status('sample')).to.include({ failure: null, lastError: null });
    await shipped.loader.stop();
    expect(shipped.clock.pending()).to.equal(0);
    await shipped.folders.remove();
  });

  it('ends a register that takes longer than ten seconds, and refuses what it tries afterwards', async () => {
    const world = globalThis as unknown as { slowPlugin?: { release(): void; answer?: string } };
    await bench.folders.write('sample', {
      files: {
        'index.js': `export default { async register(host) {
          ${registering}
          await new Promise((release) => { globalThis.slowPlugin = { release }; });
          try { host.hooks.addAction('late', () => {}); } catch (error) { globalThis.slowPlugin.answer = error.message; }
        } };`,
      },
    });
    await bench.loader.start();
    const activation = bench.loader.activate('sample').then(
      () => 'active',
      (error: Error) => error.message,
    );
    while (!world.slowPlugin) await new Promise((resolve) => setImmediate(resolve));
    await bench.clock.advance(10_000);
    expect(await activation).to.match(
      /disabled after an error in 'register': It did not end within 10 seconds\. Do slow work in a job, and await/,
    );
    expect(bench.services.registered()).to.deep.equal([]);
    world.slowPlugin.release();
    await new Promise((resolve) => setImmediate(resolve));
    expect(world.slowPlugin.answer).to.match(/'sample' is no longer active/);
  });

  it('waits for the limit even when nothing else keeps the process alive', async () => {
    const script = fileURLToPath(new URL('./fixtures/never-ending.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [script]);
    expect(stdout).to.equal('It took too long.\n');
  });

  it('tries a failed plugin again when someone activates it, and forgets the failure when that works', async () => {
    const folder = await bench.folders.write('sample', {
      files: { 'index.js': `import './lib.js'; export default { register() {} };` },
    });
    await bench.loader.start();
    await bench.loader.activate('sample').catch(() => undefined);
    expect(bench.status('sample').state).to.equal('failed');
    await bench.folders.write('sample', {
      files: { 'index.js': `import './lib.js'; export default { register() {} };`, 'lib.js': '' },
    });
    await bench.loader.activate('sample');
    expect(bench.status('sample')).to.include({ state: 'active', failure: null, lastError: null });
    expect(bench.services.stored.get('plugin_failures')).to.deep.equal({});
    await rm(join(folder, 'lib.js'));
  });

  it('takes a failing deactivate, stop callback or undo as no reason to stay', async () => {
    await bench.folders.write('sample', {
      files: {
        'index.js': `export default { register(host) { ${registering} host.onStop(() => { throw new Error('stop'); }); host.onStop(() => host.log.info('first')); },
          deactivate() { throw new Error('deactivate'); } };`,
      },
    });
    await bench.loader.start();
    await bench.loader.activate('sample');
    await bench.loader.deactivate('sample');
    expect(bench.status('sample').state).to.equal('inactive');
    expect(bench.services.registered()).to.deep.equal([]);
    expect(bench.services.lines.filter(({ level }) => level === 'error')).to.have.length(2);
  });

  it('notes later errors of a running plugin without disabling it', async () => {
    await bench.folders.write('sample', {
      files: {
        'index.js': `export default { register(host) {
          host.rest.registerRoute('sample/v1', '/x', [{ handler: async () => { throw new Error('route in ' + host.plugin.directory); } },
            { methods: ['POST'], permission: () => { throw new host.api.RestError({ code: 'no', message: 'No.', status: 403 }); }, handler: () => 1 }]); } };`,
      },
    });
    await bench.loader.start();
    await bench.loader.activate('sample');
    const [get, post] = bench.services.routes.get('/sample/v1/x')!;
    const request = { signal: new AbortController().signal } as RestRequest;
    expect(await Promise.resolve(get!.handler(request)).catch((error: unknown) => error)).to.be.instanceOf(Error);
    expect(() => post!.permission!(request)).to.throw(RestError);
    expect(bench.status('sample')).to.include({ state: 'active', failure: null });
    expect(bench.status('sample').lastError).to.deep.equal({
      stage: 'route',
      message: 'route in sample',
      at: bench.clock.now(),
    });
    bench.loader.reportFailure('sample', 'action', new Error('later'));
    bench.loader.reportFailure('host', 'action', new Error('not a plugin'));
    expect(bench.status('sample').lastError?.message).to.equal('later');
    await bench.clock.advance(1_000);
    expect(bench.services.stored.get('plugin_failures')).to.deep.equal({ sample: bench.status('sample').lastError });
    expect(bench.services.stored.get('active_plugins')).to.deep.equal(['sample']);
  });

  it('forgets a late error of a plugin that another process has deactivated meanwhile', async () => {
    await bench.folders.write('sample', { files: good });
    bench.services.stored.set('active_plugins', ['sample']);
    await bench.loader.start();
    bench.loader.reportFailure('sample', 'promise', new Error('late'));
    bench.services.stored.set('active_plugins', []);
    await bench.clock.advance(1_000);
    await bench.loader.sync();
    expect(bench.services.stored.get('plugin_failures') ?? {}).to.deep.equal({});
    expect(bench.status('sample')).to.include({ state: 'inactive', failure: null });
  });

  it('stops a plugin for an error that nothing caught, with what requires it, until it starts again anywhere', async () => {
    await bench.folders.write('sample', { files: good });
    await bench.folders.write('user', { manifest: { requires: { sample: '*' } }, files: good });
    bench.services.stored.set('active_plugins', ['good', 'sample', 'user']);
    await bench.loader.start();
    const contained = await bench.loader.contain('sample', new Error('late'));
    await bench.loader.contain('sample', new Error('again'));
    expect([contained, await bench.loader.contain('unknown', new Error('late'))]).to.deep.equal([true, false]);
    expect(bench.services.registered().filter((text) => text.includes('hook good'))).to.deep.equal([
      'hook good of good',
    ]);
    expect(bench.status('sample')).to.have.property('state', 'failed');
    expect(bench.status('sample').failure?.message).to.match(/^late \(nothing caught this error/);
    expect(bench.status('user').failure?.message).to.match(/requires 'sample'/);
    await bench.loader.sync();
    expect(bench.status('sample').state).to.equal('failed');
    await bench.clock.advance(1_000);
    expect(bench.services.stored.get('plugin_failures')).to.have.nested.property('sample.message', 'late');
    // A process that starts runs it, and its note of the crash is gone: so this one runs it again.
    const other = bench.beside();
    await other.loader.start();
    const [, sample] = other.loader.list();
    expect([sample?.state, sample?.lastError?.stage]).to.deep.equal(['active', undefined]);
    await other.loader.stop();
    await bench.loader.sync();
    expect([bench.status('sample'), bench.status('user')].map(({ state }) => state)).to.deep.equal([
      'active',
      'active',
    ]);
  });

  it('lists routes that anyone can call, and names the plugin that has a name already', async () => {
    await bench.folders.write('sample', {
      files: {
        'index.js': `export default { register(host) { host.views.addHelper('own', () => '');
          host.rest.registerRoute('sample/v1', '/open', [{ handler: () => 1 }, { methods: ['POST'], permission: () => true, handler: () => 1 },
            { methods: ['PUT'], security: ['none'], handler: () => 1 }]); } };`,
      },
    });
    await bench.folders.write('second', {
      files: {
        'index.js': `export default { register(host) { host.rest.registerRoute('sample/v1', '/open', { permission: () => true, handler: () => 1 }); } };`,
      },
    });
    await bench.loader.start();
    await bench.loader.activate('sample');
    const sentence =
      "The route GET /sample/v1/open has no 'permission', so anyone can call it. If that is intended, write: permission: () => true";
    expect(bench.status('sample').warnings).to.deep.equal([sentence]);
    expect(bench.services.lines.find(({ fields }) => fields['event'] === 'plugin_warning')?.fields).to.deep.equal({
      event: 'plugin_warning',
      plugin: 'sample',
      reason: sentence,
    });
    await bench.loader.activate('second').catch(() => undefined);
    expect(bench.status('second').failure?.message).to.equal(
      "The route /sample/v1/open is registered twice. The plugin 'sample' has registered it.",
    );
    bench.loader.warn('sample', 'Another one.');
    expect(bench.status('sample').warnings).to.have.length(2);
    await bench.loader.deactivate('sample');
    expect(bench.status('sample').warnings).to.deep.equal([]);
  });
});
