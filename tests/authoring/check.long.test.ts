import { cp, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { createTestHost, type TestHost } from '#testing';
import { checkTypes } from '../../host/authoring/type-check.ts';
import { checkout } from '../helpers/running-site.ts';

interface Finding {
  readonly level: string;
  readonly rule: string;
  readonly at: string;
  readonly message: string;
}

const breaches: Readonly<Record<string, string>> = {
  'plugin.json': JSON.stringify({ slug: 'bad-plugin', name: 'Bad', version: '1.0.0', host: '^1', description: 'Bad.' }),
  'package.json': JSON.stringify({ type: 'module', dependencies: { 'odd-license': '1.0.0', 'not-there': '1.0.0' } }),
  'node_modules/odd-license/package.json': '{"name":"odd-license","license":"GPL-3.0-only"}',
  'languages/de.json': '{}',
  'index.ts': `import { definePlugin } from '#plugin-api';
export default definePlugin({
  migrations: [{ id: '0001_a', up: (knex) => knex.schema.createTable('orders', (table) => void table.increments()) }],
  async register(host) {
    host.rest.registerRoute('bad-plugin/v1', '/open', { handler: () => 1 });
    host.content.addShortcode('bad', ({ name }) => \`<b>\${name}</b>\`);
    // checked: a number.
    host.content.addShortcode('good', () => \`<b>\${1 + 1}</b>\`);
    host.hooks.applyFilters('total', 1);
    host.metrics.add(() => [{ name: 'orders_total', type: 'counter', help: 'Orders.', samples: [{ value: 1 }] }]);
    const wrong: string = 1;
    await host.cron.schedule('daily', 'bad_plugin_daily');
    await host.options.update('orders_size', 1);
  },
});
`,
  'rules.ts': `import type { HostApi } from '#plugin-api';
export const rules = async (host: HostApi, id: string): Promise<void> => {
  await host.database.knex.raw(\`SELECT * FROM bad_plugin WHERE id = \${id}\`);
  await host.database.knex.raw('SELECT * FROM bad_plugin WHERE id = ?', [id]);
  eval(id);
  await fetch(id);
  setInterval(() => undefined, 1000);
  process.on('exit', () => undefined);
  host.hooks.addFilter('the_contnet', (html: string) => html);
  host.hooks.addFilter('the_title', () => undefined as never);
  host.hooks.addFilter('the_excerpt', (() => { host.log.info('no'); }) as never);
  host.hooks.addFilter('nonce_life', (async (life: number) => life) as never);
  host.hooks.addFilter('another_plugins_hook', (value: string) => value);
  host.admin.addPage({ slug: 'bad-plugin', title: 'Not in the catalog', script: 'gone.js', render: async () => ({ html: '' }) } as never);
  host.i18n.__('Also not there');
  // checked: the operator chose it.
  await fetch(id);
  for (const name of ['the_title', 'the_contnet'] as const) host.hooks.addFilter(name as never, nothing as never);
  const names = ['the_excerpt', 'nonce_life'] as const;
  names.forEach((name) => host.hooks.addFilter(name as never, later as never));
};
function nothing(): void {}
const later = async (value: unknown) => value;
`,
  'assets/page.js': `document.querySelector('input')?.addEventListener('click', () => alert(1));
`,
  'views/page.hbs': `<form method="post"><p>Hello {{name}}</p></form>
<p onclick="x()">{{{name}}}</p>
`,
};

describe('plugin check', () => {
  let folder = '';
  let host: TestHost;
  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'svc-check-')));
    host = await createTestHost();
  });
  after(async () => {
    await host.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function write(directory: string, files: Readonly<Record<string, string>>): Promise<string> {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(directory, name)), { recursive: true });
      await writeFile(join(directory, name), text);
    }
    return directory;
  }

  it('finds nothing in the example orders', async () => {
    // Inside of the checkout, the types would be those of the sources.
    const copy = join(folder, 'copied', 'orders');
    await cp(join(checkout, 'plugins', 'orders'), copy, { recursive: true });
    await writeFile(join(folder, 'copied', 'package.json'), '{ "type": "module" }');
    expect(await found(copy)).to.deep.equal([]);
  }).timeout(180_000);

  it('names each fault with its place, as a table and as JSON, and fails', async () => {
    await write(join(folder, 'bad-plugin'), breaches);
    const { code, out, err } = await host.cli('plugin', 'check', join(folder, 'bad-plugin'), '--json');
    expect([code, err.trim().split('\n').at(-1)], out).to.deep.equal([1, 'Error: The check found 28 errors.']);
    const found = JSON.parse(out) as readonly Finding[];
    expect(found.map(({ level, rule, at }) => `${level} ${rule} ${at}`.trim()).sort()).to.deep.equal(
      [
        'error asset rules.ts:14',
        'error csp views/page.hbs:2',
        'error escaping index.ts:6',
        'error escaping views/page.hbs:2',
        'error eval rules.ts:5',
        'error fetch rules.ts:6',
        'error filter rules.ts:10',
        'error filter rules.ts:11',
        'error filter rules.ts:12',
        'error filter rules.ts:22',
        'error filter rules.ts:23',
        'error hook rules.ts:9',
        'error hook rules.ts:18',
        'error license node_modules/not-there',
        'error nonce views/page.hbs:1',
        'error permission index.ts:5',
        'error prefix',
        'error prefix',
        'error prefix',
        'error prefix index.ts:9',
        'error process rules.ts:8',
        'error sql rules.ts:3',
        'error timer rules.ts:7',
        'error translation rules.ts:15',
        'error translation views/page.hbs:1',
        'error types index.ts:11',
        'error uninstall',
        'error uninstall',
        'warning license node_modules/odd-license',
      ].sort(),
    );
  }).timeout(120_000);

  it('reads catalogs, the exclude of tsconfig.json, client scripts and JavaScript without a tsconfig.json', async () => {
    const manifest = (slug: string) =>
      JSON.stringify({ slug, name: 'Shop', version: '1.0.0', host: '^1', description: 'A shop.' });
    const plain = await write(join(folder, 'plain', 'plain-shop'), {
      'plugin.json': manifest('plain-shop'),
      'package.json': '{ "type": "module" }',
      'index.js': `export default { register(host) {
          host.options.registerSetting('plain_shop_currency', { group: 'general', schema: { type: 'string', default: 1 }, label: 'Currency unit' });
          host.admin.addPage({ slug: 'plain-shop', title: host.i18n.__('Ship it'), script: 'page.js',
            render: async () => ({ template: 'plain-shop/page', data: {} }) });
          const count = 1;
          host.hooks.addAction('plain_shop_ready', () => count.toUpperCase());
        }, uninstall() {} };`,
      'assets/page.js': `document.querySelector('input')?.focus();\ndocument.gone();\n`,
      'views/page.hbs': '<p>Ship <b>it</b> today</p><input>',
      'languages/de.json': '{ "Ship <1>it</1> today": "Heute <1>versenden</1>", "Ship it": "Versenden" }',
    });
    expect((await found(plain)).map(({ rule, at, message }) => [rule, at, message.slice(0, 40)])).to.deep.equal([
      ['types', 'index.js:6', "TS2339: Property 'toUpperCase' does not "],
      ['types', 'assets/page.js:2', "TS2339: Property 'gone' does not exist on "].map((text) => text.slice(0, 40)),
      ['translation', '', "languages/de.json lacks the text 'Currency unit'.".slice(0, 40)],
      ['definition', '', "In host.options.registerSetting('plain_shop_currency')".slice(0, 40)],
    ]);
    const excluding = await write(join(folder, 'plain', 'typed-shop'), {
      'plugin.json': manifest('typed-shop'),
      'package.json': '{ "type": "module" }',
      'tsconfig.json': '{ "compilerOptions": { "strict": true, "module": "nodenext" }, "exclude": ["drafts"] }',
      'index.ts': 'export default { register(): void {} };',
      'drafts/later.ts': 'export const price: number = "none";',
    });
    expect(await found(excluding)).to.deep.equal([]);
  }).timeout(120_000);

  it('finds callbacks in plain JavaScript that expect what the host does not pass, of every kind', async () => {
    const callbacks = [
      `host.abilities.register('loose/a', { label: 'A', description: 'A', category: 'loose', permission: ({ user }) => user.can('read'), execute: () => 1 })`,
      `host.rest.registerRoute('loose/v1', '/a', { permission: (user) => user.can('read'), handler: () => 1 })`,
      `host.rest.registerRoute('loose/v1', '/b', [{ permission: () => true, handler(request, response) { response.send(1); } }])`,
      `host.content.addShortcode('loose', ({ attributes }) => attributes.name)`,
      `host.content.registerRestField('post', 'loose', { get: (item, request) => request.body })`,
      `host.cli.addCommand({ name: 'loose', description: 'L', run: async (args) => args.join(' ') })`,
      `host.jobs.define({ name: 'loose', run: async ({ args }) => args })`,
      `host.admin.addPage({ slug: 'loose', title: 'Loose', render: async (request, user) => ({ template: 'loose/a', data: { user } }) })`,
      `host.admin.addNotice({ show: async (user) => (user.can('read') ? null : null) })`,
      `host.hooks.addAction('upgraded_plugin', ({ slug }) => slug.trim())`,
      `host.metrics.add((registry) => registry.text())`,
      `host.site.addPage({ path: 'loose', title: 'Loose', render: async ({ params }) => ({ template: params.name }) })`,
    ];
    const right = `const settings = await host.options.get('loose'); if (settings.isOn) host.log.info(settings.name.trim());
      host.rest.registerRoute('loose/v1', '/c', { permission: ({ user }) => user.can('read'), handler: async ({ params }) => params.name.trim() });
      try { JSON.parse('x'); } catch (error) { host.log.error(error.message); }`;
    const loose = await write(join(folder, 'plain', 'loose'), {
      'plugin.json': JSON.stringify({ slug: 'loose', name: 'L', version: '1.0.0', host: '^1', description: 'Loose.' }),
      'package.json': '{ "type": "module" }',
      'index.js': `import { more } from './more.js';\nexport default { register(host) { return more(host); } };`,
      'more.js': `export const more = async host => {\n${[...callbacks, right].join(';\n')};\n};`,
    });
    const lines = (await checkTypes(loose)).map(({ file, line }) => `${file}:${line}`);
    expect(lines).to.have.members(callbacks.map((_callback, index) => `more.js:${index + 2}`));
  }).timeout(120_000);

  async function found(source: string): Promise<readonly Finding[]> {
    return JSON.parse((await host.cli('plugin', 'check', source, '--json')).out) as readonly Finding[];
  }
});
