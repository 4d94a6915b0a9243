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
        expect(points).to.have.length(18);
        expect(outcomes(points).filter((each) => each.includes('failed'))).to.deep.equal([]);
        if (plugin !== newer) continue;
        expect(outcomes(points).filter((each) => !each.endsWith(': passed'))).to.deep.equal([
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
      expect([code, err.trim()]).to.deep.equal([1, 'Error: 5 of 9 points failed.']);
      const found = outcomes(JSON.parse(out) as Awaited<ReturnType<typeof checkConformance>>);
      expect(found[2]).to.match(
        /^SQLite routes: failed 4 requests answered 500\. The first: GET \/bad-orders\/v1\/size/,
      );
      expect(found[3]).to.equal(
        'SQLite database: failed POST /bad-orders/v1/orders, while the database fails from statement 2 on, ' +
          'responded with 500 and changed bad_orders.',
      );
      expect(found[4]).to.equal(
        "SQLite pages: failed The page 'bad-orders' shows part of its query without escaping it.",
      );
      expect(found[6]).to.match(
        /^SQLite rounds: failed After 3 rounds there are more: listeners of the process from \d+ to/,
      );
      expect(found[8]).to.match(
        /uninstall: failed Uninstallation 1 of 2 leaves something\. .*The option 'bad_orders_size' is left\./,
      );
    } finally {
      await host.stop();
      process.removeAllListeners('bad-orders');
    }
  }).timeout(120_000);
});
