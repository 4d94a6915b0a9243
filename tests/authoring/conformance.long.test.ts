import { cp, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { checkConformance, createTestHost } from '#testing';
import { createPlugin } from '../../host/authoring/new-plugin.ts';
import { createPostgresDatabase } from '../helpers/postgres.ts';
import { checkout } from '../helpers/running-site.ts';

const outcomes = (points: Awaited<ReturnType<typeof checkConformance>>): string[] =>
  points.map(({ point, database, outcome, detail }) => `${database} ${point}: ${[outcome, detail].join(' ').trim()}`);

describe('the conformance of plugins', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'svc-conforming-')));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('holds for hello, orders, sandbox and a new plugin, on both databases, on two nodes and over an upgrade', async () => {
    const created = await createPlugin({ slug: 'order-helper', directory: folder, language: 'ts', taken: [] });
    const newer = join(folder, 'newer', 'order-helper');
    await cp(created, newer, { recursive: true });
    const manifest = JSON.parse(await readFile(join(newer, 'plugin.json'), 'utf8')) as object;
    await writeFile(join(newer, 'plugin.json'), JSON.stringify({ ...manifest, version: '0.2.0' }));
    for (const [plugin, previous] of [
      [join(checkout, 'plugins', 'hello'), undefined],
      [join(checkout, 'plugins', 'orders'), join(checkout, 'tests', 'fixtures', 'plugins', 'orders-1.0.0.zip')],
      [join(checkout, 'plugins', 'sandbox'), undefined],
      [newer, created],
    ] as const) {
      const { url, drop } = await createPostgresDatabase();
      try {
        const points = await checkConformance({ plugin, postgres: url, rounds: 5, ...(previous && { previous }) });
        expect(points).to.have.length(26);
        expect(outcomes(points).filter((each) => each.includes('failed'))).to.deep.equal([]);
        if (plugin !== newer) continue;
        const notTried = outcomes(points).filter((each) => !each.endsWith(': passed') && !each.includes('has no'));
        expect(notTried).to.deep.equal([
          'SQLite nodes: left out Two nodes need PostgreSQL.',
          'SQLite accessibility: left out No browser was given.',
          'PostgreSQL accessibility: left out The pages are those of SQLite.',
        ]);
      } finally {
        await drop();
      }
    }
  }).timeout(240_000);

  it('names an upgrade that loses data', async () => {
    const write = async (version: string, migrations: string): Promise<string> => {
      const plugin = join(folder, version, 'lossy');
      await mkdir(plugin, { recursive: true });
      await writeFile(
        join(plugin, 'plugin.json'),
        JSON.stringify({ slug: 'lossy', name: 'Lossy', version, host: '^1' }),
      );
      await writeFile(
        join(plugin, 'index.js'),
        `export default {
          migrations: [
            { id: '0001_a', up: (knex) => knex.schema.createTable('lossy_items', (table) => void table.increments()) },
            ${migrations}
          ],
          register(host) {
            const items = () => host.database.knex('lossy_items');
            host.rest.registerRoute('lossy/v1', '/items', { methods: ['POST'], permission: () => true,
              handler: async () => { await items().insert({}); return {}; } });
            host.rest.registerRoute('lossy/v1', '/items', { methods: ['DELETE'], permission: () => true,
              handler: async () => { await items().del(); return {}; } });
          },
          uninstall: (host) => host.database.knex.schema.dropTableIfExists('lossy_items'),
        };`,
      );
      return plugin;
    };
    const previous = await write('1.0.0', '');
    const plugin = await write('1.1.0', `{ id: '0002_b', up: (knex) => knex('lossy_items').del() },`);
    const points = await checkConformance({ plugin, previous, rounds: 1 });
    expect(outcomes(points).filter((each) => each.includes('failed'))).to.deep.equal([
      'SQLite upgrade: failed The upgrade loses data: the plugin had 1 rows in its tables, and has 0.',
    ]);
  }).timeout(60_000);

  async function writePlugin(
    slug: string,
    code: string,
    files: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const plugin = join(folder, slug);
    await mkdir(plugin, { recursive: true });
    const manifest = { slug, name: slug, version: '1.0.0', host: '^1' };
    for (const [name, text] of Object.entries({ 'plugin.json': JSON.stringify(manifest), 'index.js': code, ...files }))
      await writeFile(join(plugin, name), text);
    return plugin;
  }

  it('holds for a plugin with a post type, meta, an ability, a command, a shortcode and filters, on both databases', async () => {
    const plugin = await writePlugin(
      'receipts',
      `import { escapeHtml } from '#plugin-api';
      export default {
        register(host) {
          host.content.registerPostType('receipt', { label: 'Receipts', singularLabel: 'Receipt', public: true, showInRest: true, restBase: 'receipts' });
          host.content.registerMeta('receipt', 'receipts_total', { schema: { type: 'string' }, showInRest: true });
          host.abilities.registerCategory('receipts', { label: 'Receipts', description: 'Receipts of the shop.' });
          host.abilities.register('receipts/count', {
            label: 'Count', description: 'Counts receipts.', category: 'receipts',
            inputSchema: { type: 'object', properties: { state: { type: 'string', maxLength: 20 } }, default: {} },
            permission: (_input, { user }) => user.can('edit_posts'),
            execute: async () => ({ count: 1 }),
          });
          host.cli.addCommand({
            name: 'receipts count', description: 'Counts receipts.',
            flags: { limit: { type: 'integer', default: 20, description: 'Receipts at most.' } },
            run: async ({ flags }) => ({ count: flags.limit.toFixed(0) }),
          });
          host.content.addShortcode('receipt', ({ name = '' }) => escapeHtml(name));
          host.hooks.addFilter('the_title', (title) => title.trim());
          host.hooks.addFilter('nonce_life', (life) => life);
          host.hooks.addFilter('cron_event_labels', (labels) => ({ ...labels }));
        },
        async uninstall(host) {
          await host.database.knex('post_meta').where({ key: 'receipts_total' }).delete();
        },
      };`,
    );
    const { url, drop } = await createPostgresDatabase();
    try {
      const found = outcomes(await checkConformance({ plugin, postgres: url, rounds: 2 }));
      expect(found.filter((each) => each.includes(': failed'))).to.deep.equal([]);
      for (const point of ['routes', 'abilities', 'commands', 'shortcodes', 'filters', 'uninstall'])
        for (const database of ['SQLite', 'PostgreSQL']) expect(found).to.include(`${database} ${point}: passed`);
    } finally {
      await drop();
    }
  }).timeout(120_000);

  for (const [title, point, code, detail] of [
    [
      'an ability that takes the wrong arguments',
      'abilities',
      `host.abilities.registerCategory('faulty', { label: 'Faulty', description: 'Faulty.' });
       host.abilities.register('faulty/run', { label: 'Run', description: 'Runs.', category: 'faulty',
         permission: ({ user }) => user.can('edit_posts'), execute: () => 1 });`,
      /The ability 'faulty\/run' failed with the input nothing: .* Cannot destructure property 'user'/,
    ],
    [
      'a command that breaks without its flag',
      'commands',
      `host.cli.addCommand({ name: 'faulty run', description: 'Runs.', flags: { name: { type: 'string' } },
         run: async ({ flags }) => flags.name.length });`,
      /The command 'faulty run' failed: Cannot read properties of undefined/,
    ],
    [
      'a shortcode that shows an attribute as it is',
      'shortcodes',
      `host.content.addShortcode('faulty', ({ name }) => '<b>' + name + '</b>');`,
      /The shortcode 'faulty' shows an attribute without escaping it/,
    ],
    [
      'a shortcode that shows an attribute of another name as it is, with a good id',
      'shortcodes',
      `host.content.addShortcode('faulty', ({ id = '1', flavor = '' }) => (/^\\d*$/.test(id) ? '<b>' + flavor + '</b>' : ''));`,
      /The shortcode 'faulty' shows an attribute without escaping it/,
    ],
    [
      'a shortcode that escapes everything but quotes, of an attribute with a default',
      'shortcodes',
      `host.content.addShortcode('faulty', (given) => {
         const { tint } = host.content.shortcodeAttributes({ tint: 'red' }, given);
         return '<b class="' + tint.replaceAll('<', '&lt;') + '"></b>';
       });`,
      /The shortcode 'faulty' shows an attribute without escaping it/,
    ],
    [
      'a command without arguments that always throws',
      'commands',
      `host.cli.addCommand({ name: 'faulty run', description: 'Runs.', run: async () => { throw new Error('No way') } });`,
      /^The command 'faulty run' failed whenever it ran: No way\. If the site lacks something, throw a RestError/,
    ],
    [
      'a shortcode that throws',
      'shortcodes',
      `host.content.addShortcode('faulty', ({ size }) => 'x'.repeat(Number(size)));`,
      /The log has an error of the plugin: .*Shortcode failed/,
    ],
    [
      'a filter that returns nothing',
      'filters',
      `host.hooks.addFilter('svc_images_request', () => undefined);`,
      /The log has an error of the plugin: .*svc_images_request/,
    ],
    [
      'an async callback where the filter runs synchronously',
      'filters',
      `host.hooks.addFilter('svc_form_burst_limits', async (limits) => limits);`,
      /The log has an error of the plugin: .*returned a promise, but this filter runs synchronously/,
    ],
    [
      'a filter that returns another type',
      'filters',
      `host.hooks.addFilter('rest_get_max_batch_size', (size) => String(size));`,
      /The filter 'rest_get_max_batch_size' returned a string instead of a number/,
    ],
    [
      'fifty timers at each activation',
      'rounds',
      `for (let index = 0; index < 50; index += 1) (globalThis.faultyTimers ??= []).push(setInterval(() => {}, 1_000_000));`,
      /timers of Node from \d+ to \d+/,
    ],
    [
      'post meta that stays',
      'uninstall',
      `host.rest.registerRoute('faulty/v1', '/view', { methods: ['POST'], permission: () => true, handler: async () => {
         const { id } = await host.content.posts.create({ title: 'A' });
         await host.content.meta.update(id, 'faulty_views', '1');
         return {};
       } });`,
      /The post meta 'faulty_views' is left/,
    ],
  ] as const)
    it(`fails for ${title}`, async () => {
      const plugin = await writePlugin('faulty', `export default { register(host) { ${code} }, uninstall() {} };`);
      const points = await checkConformance({ plugin, rounds: 2 });
      for (const timer of (globalThis as { faultyTimers?: NodeJS.Timeout[] }).faultyTimers ?? []) clearInterval(timer);
      const failed = points.filter(({ outcome }) => outcome === 'failed');
      expect(failed.map((each) => each.point)).to.deep.equal([point]);
      expect(failed[0]?.detail).to.match(detail);
    }).timeout(60_000);

  it('says of commands that refuse whatever is given that they were not tried', async () => {
    const plugin = await writePlugin(
      'refusing',
      `import { RestError, escapeHtml } from '#plugin-api';
      export default { register(host) {
        host.cli.addCommand({ name: 'refusing show', description: 'Shows.', args: [{ name: 'id', description: 'Id.' }],
          run: async ({ args: [id] }) => { throw new Error('There is no item ' + id); } });
        host.cli.addCommand({ name: 'refusing send', description: 'Sends.',
          run: async () => { throw new RestError({ code: 'no_key', message: 'Enter a key first.', status: 409 }); } });
        host.cli.addCommand({ name: 'refusing list', description: 'Lists.', run: async () => [] });
        host.content.addShortcode('refusing', ({ flavor = '' }) => '<b class="' + escapeHtml(flavor) + '">' + escapeHtml(flavor) + '</b>');
      } };`,
    );
    const found = outcomes(await checkConformance({ plugin, rounds: 1 }));
    expect(found.find((each) => each.startsWith('SQLite commands'))).to.equal(
      "SQLite commands: left out The command 'refusing show' failed whenever it ran: There is no item 1. " +
        "The command 'refusing send' failed whenever it ran: Enter a key first.",
    );
    expect(found).to.include('SQLite shortcodes: passed');
  }).timeout(60_000);

  it('ends at a point that does not end by itself', async () => {
    const plugin = join(folder, 'endless');
    await mkdir(plugin);
    const manifest = { slug: 'endless', name: 'Endless', version: '1.0.0', host: '^1' };
    await writeFile(join(plugin, 'plugin.json'), JSON.stringify(manifest));
    await writeFile(
      join(plugin, 'index.js'),
      `export default { register(host) {
        host.rest.registerRoute('endless/v1', '/wait', { permission: () => true, handler: () => new Promise(() => {}) });
        host.onStop(() => new Promise(() => {}));
      } };`,
    );
    expect(outcomes(await checkConformance({ plugin, rounds: 1, timeLimit: 1 }))).to.deep.equal([
      'SQLite activate: passed',
      'SQLite nodes: left out Two nodes need PostgreSQL.',
      'SQLite routes: failed It did not end within 1 second. The points after it were not tried.',
    ]);
  }).timeout(60_000);

  it('names each fault of a plugin', async () => {
    const plugin = join(folder, 'bad-orders');
    await mkdir(join(plugin, 'views'), { recursive: true });
    const files = {
      'plugin.json': JSON.stringify({ slug: 'bad-orders', name: 'Bad', version: '1.0.0', host: '^1' }),
      'views/page.hbs': '<p>{{name}}</p>',
      'index.js': `export default {
        migrations: [{ id: '0001_a', up: (knex) => knex.schema.createTable('bad_orders', (table) => void table.increments()) }],
        register(host) {
          process.on('bad-orders', () => {});
          host.rest.registerRoute('bad-orders/v1', '/size', { permission: () => true, args: { text: { type: 'string' } },
            handler: ({ params }) => { if (params.text === '__proto__') throw new TypeError('broken'); return {}; } });
          host.rest.registerRoute('bad-orders/v1', '/orders', { methods: ['POST'], permission: () => true,
            async handler() {
              const direct = (sql) => host.database.direct({
                sqlite: ({ run }) => void run(sql),
                postgresql: async ({ rows }) => void (await rows(sql)),
              });
              await direct('INSERT INTO bad_orders DEFAULT VALUES');
              await direct('DELETE FROM bad_orders WHERE id = 0');
              return {};
            } });
          host.admin.addPage({ slug: 'bad-orders', title: 'Bad',
            render: async ({ query }) => ({ template: 'bad-orders/page', data: { name: host.views.safe(query.name ?? '') } }) });
        },
        async activate(host) { await host.options.update('bad_orders_size', 1); },
        uninstall() {},
      };`,
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(plugin, name), text);
    const host = await createTestHost();
    try {
      const { code, out, err } = await host.cli('plugin', 'test', plugin, '--conformance', '--rounds=3', '--json');
      expect([code, err.trim().split('\n').at(-1)]).to.deep.equal([1, 'Error: 5 of 13 points failed.']);
      const found = outcomes(JSON.parse(out) as Awaited<ReturnType<typeof checkConformance>>);
      expect(found[2]).to.match(
        /^SQLite routes: failed 4 requests answered 500\. The first: GET \/bad-orders\/v1\/size/,
      );
      expect(found[6]).to.equal(
        'SQLite database: failed POST /bad-orders/v1/orders, while the database fails from statement 2 on, ' +
          'responded with 503 and changed bad_orders.',
      );
      expect(found[7]).to.equal(
        "SQLite pages: failed The page 'bad-orders' shows part of its query without escaping it.",
      );
      expect(found[10]).to.match(
        /^SQLite rounds: failed After 3 rounds there are more: listeners of the process from \d+ to/,
      );
      expect(found[12]).to.match(
        /uninstall: failed Uninstallation 1 of 2 leaves something\. .*The option 'bad_orders_size' is left\./,
      );
    } finally {
      await host.stop();
      process.removeAllListeners('bad-orders');
    }
  }).timeout(120_000);
});
