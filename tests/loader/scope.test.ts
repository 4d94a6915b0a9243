import { expect } from 'chai';
import type { HostApi, NamespacedHooks } from '#plugin-api';
import { createLoaderBench } from './helpers/loader-bench.ts';
import type { LoaderBench } from './helpers/loader-bench.ts';

const world = globalThis as { scopedHost?: HostApi };
const everything = `
  host.hooks.addFilter('sample', () => 1); host.hooks.addAction('sample', () => {});
  host.options.registerSetting('sample', { group: 'sample', schema: {} });
  host.rest.registerRoute('sample/v1', '/a', { handler: () => 1 }); host.rest.registerRoute('sample/v1', '/b', [{ handler: () => 1 }]);
  host.cron.addSchedule('sample', 60, 'Sample');
  host.admin.addPage({ slug: 'sample' }); host.admin.addBadge(async () => null); host.admin.addNotice({ show: async () => null });
  host.services.provide('sample', {}); host.admin.addSetupChoice({ id: 'sample' });
  host.cli.addCommand({ name: 'sample' }); host.cli.addCommands(async () => []); host.views.addHelper('sample', () => ''); host.metrics.add(() => '');
  host.clock.every(1000, () => {}); host.clock.after(1000, () => {});`;

describe('scope of a plugin', () => {
  let bench: LoaderBench;
  beforeEach(async () => {
    bench = await createLoaderBench();
    await bench.loader.start();
  });
  afterEach(() => bench.folders.remove());

  const activate = async (code: string, more: Readonly<Record<string, string>> = {}): Promise<HostApi> => {
    await bench.folders.write('sample', {
      files: { 'index.js': `export default { register(host) { globalThis.scopedHost = host; ${code} } };`, ...more },
    });
    await bench.loader.activate('sample');
    return world.scopedHost!;
  };

  it('names the plugin in its manifest, its log lines and its hooks', async () => {
    const host = await activate(`host.log.info('hi'); host.hooks.addFilter('sample', function mine() {});`);
    expect(host.plugin).to.deep.include({
      slug: 'sample',
      version: '1.0.0',
      directory: `${bench.folders.directory}/sample`,
    });
    expect(bench.services.lines.find(({ message }) => message === 'hi')?.fields).to.deep.equal({ plugin: 'sample' });
    expect(bench.services.hooks.describe().find(({ name }) => name === 'sample')?.callbacks[0]).to.include({
      owner: 'sample',
      callback: 'mine',
      position: 'sample/index.js:1',
    });
    expect(host.assets.url('a.js')).to.equal('/assets/sample/a.js');
    expect(new host.api.RestError({ code: 'a', message: 'b' })).to.be.instanceOf(Error);
  });

  it('hands on only what the contract names', async () => {
    const host = await activate('');
    expect(host.hooks).to.not.have.any.keys('removeOwner', 'forOwner', 'describe');
    expect(host.views).to.not.have.property('addSource');
  });

  it('offers hooks with namespaces, which belong to the plugin like all its hooks', async () => {
    const host = await activate(`
      const hooks = globalThis.namespacedHooks = host.api.withNamespaces(host.hooks);
      hooks.addFilter('price', 'sample/tax', function addTax(price) { return price * 2; }, 20);
      hooks.addFilter('price', 'sample/fee', (price) => price + 1);
      hooks.addAction('sold', 'sample/count', () => {});`);
    const { namespacedHooks: hooks } = globalThis as unknown as { namespacedHooks: NamespacedHooks };
    bench.services.hooks.addFilter('price', (price) => Number(price) + 0.5, 30);
    expect(bench.services.hooks.applyFilters('price', 1)).to.equal(4.5);
    expect(bench.services.hooks.describe().find(({ name }) => name === 'price')?.callbacks[1]).to.include({
      owner: 'sample',
      callback: 'sample/tax: addTax',
      priority: 20,
    });
    expect([
      hooks.removeFilter('price', 'sample/fee'),
      hooks.hasFilter('price', 'sample/tax'),
      host.hooks.applyFilters('price', 1),
    ]).to.deep.equal([1, true, 2.5]);
    await bench.loader.deactivate('sample');
    expect(bench.services.registered()).to.deep.equal(['hook price of host']);
    expect(() => hooks.addFilter('price', 'sample/late', () => 0)).to.throw('is no longer active');
    expect(() => hooks.applyFilters('price', 1)).to.throw('is no longer active');
  });

  it('hands services from plugin to plugin, which follow upgrades and end with their provider', async () => {
    const write = (version: string) =>
      bench.folders.write('shop', {
        manifest: { version },
        files: {
          'index.js': `export default { register(host) { host.services.provide('shop.prices', { version: '${version}',
            of(size) { return this.version + ':' + size; } }); host.services.provide('shop', (text) => text + '!'); } };`,
        },
      });
    await write('1.0.0');
    const host = await activate('');
    expect(() => host.services.get('shop.prices')).to.throw(
      `No active plugin provides the service 'shop.prices'. Install and activate 'shop', and name it`,
    );
    expect(host.services.has('shop')).to.equal(false);
    await bench.loader.activate('shop');
    interface Prices {
      version: string;
      of(size: number): string;
    }
    const prices = host.services.get('shop.prices') as Prices;
    const shout = host.services.get('shop') as (text: string) => string;
    const { of } = prices;
    expect([prices.of(2), of(3), shout('hi'), Object.keys(prices)]).to.deep.equal([
      '1.0.0:2',
      '1.0.0:3',
      'hi!',
      ['version', 'of'],
    ]);
    expect(() => (prices.version = '2')).to.throw('cannot be set from outside');
    expect(() => host.services.provide('shop', {})).to.throw("is no name of a service of this plugin. Use 'sample'");
    host.services.provide('sample', {});
    expect(() => host.services.provide('sample', {})).to.throw(
      "already provided. The plugin 'sample' has registered it",
    );
    expect(() => host.services.provide('sample.none', null as never)).to.throw('neither an object');
    await bench.loader.deactivate('shop');
    for (const use of [() => prices.version, () => of(1), () => shout('a'), () => host.services.get('shop.prices')])
      expect(use).to.throw("is gone, because the plugin 'shop' is no longer active. Activate it again.");
    await write('1.1.0');
    await bench.loader.discover();
    await bench.loader.activate('shop');
    expect([prices.of(2), of(3), 'of' in prices]).to.deep.equal(['1.1.0:2', '1.1.0:3', true]);
  });

  it('registers the folder views of the plugin', async () => {
    await activate('', { 'views/page.hbs': 'hi' });
    expect(bench.services.registered()).to.include('views sample');
    await bench.loader.deactivate('sample');
    expect(bench.services.registered()).to.deep.equal([]);
  });

  it('leaves nothing behind over a thousand activations', async () => {
    await activate(everything);
    const during = bench.services.registered();
    expect(during).to.have.length(16);
    for (let round = 0; round < 1_000; round += 1) {
      await bench.loader.deactivate('sample');
      if (bench.services.registered().length > 0 || bench.clock.pending() > 0)
        expect.fail(`Round ${round} left ${bench.services.registered().join(', ')}.`);
      await bench.loader.activate('sample');
    }
    expect(bench.services.registered()).to.deep.equal(during);
    expect(bench.services.routes.size).to.equal(2);
  }).timeout(60_000);

  it('lets a plugin take back a registration itself, once', async () => {
    const host = await activate('');
    const before = bench.services.registered().length;
    const undo = host.cli.addCommand({ name: 'own', description: '', run: async () => null });
    undo();
    undo();
    expect(bench.services.registered()).to.have.length(before);
    await bench.loader.deactivate('sample');
    expect(bench.services.registered()).to.deep.equal([]);
  });

  it('forgets timers that have run', async () => {
    const host = await activate('');
    let runs = 0;
    host.clock.after(10, () => void (runs += 1));
    await bench.clock.advance(10);
    await bench.loader.deactivate('sample');
    expect(runs).to.equal(1);
  });

  it('undoes the newest registration first, after the stop callbacks', async () => {
    const order: string[] = [];
    const host = await activate('');
    const note = (text: string) => (): void => void order.push(text);
    bench.services.cli.addCommand = ({ name }) => note(`undo ${name}`);
    host.cli.addCommand({ name: 'one', description: '', run: async () => null });
    host.cli.addCommand({ name: 'two', description: '', run: async () => null });
    host.onStop(note('stop one'));
    host.onStop(async () => {
      await host.options.get('still allowed');
      order.push('stop two');
    });
    await bench.loader.deactivate('sample');
    expect(order).to.deep.equal(['stop two', 'stop one', 'undo two', 'undo one']);
  });

  it('refuses every use once the plugin is stopped, but for its log and the time', async () => {
    const host = await activate('');
    const { addFilter } = host.hooks;
    await bench.loader.deactivate('sample');
    const refused: readonly (() => unknown)[] = [
      () => host.hooks.applyFilters('a', 1),
      () => addFilter('a', () => 1),
      () => host.options.get('a'),
      () => host.secrets.encrypt('a'),
      () => host.rest.registerRoute('a/v1', '/a', { handler: () => 1 }),
      () => host.cron.list(),
      () => host.admin.url(),
      () => host.cli.addCommand({ name: 'a', description: '', run: async () => null }),
      () => host.database.knex,
      () => host.database.transaction(async () => 1),
      () => host.users.count(),
      () => host.views.render('a/b'),
      () => host.clock.sleep(1),
      () => host.clock.after(1, () => undefined),
      () => host.http.fetch('http://example.com'),
      () => host.metrics.add(() => ''),
      () => host.documents.read({ module: new URL('file:///a.ts'), reader: 'a', input: null as never }),
      () => host.services.get('a'),
      () => host.onStop(() => undefined),
    ];
    for (const use of refused)
      expect(use, use.toString()).to.throw("The plugin 'sample' is no longer active and cannot use the host");
    host.log.info('allowed');
    expect(host.clock.now()).to.equal(bench.clock.now());
    expect(host.site.url).to.equal('http://site.test');
  });
});
