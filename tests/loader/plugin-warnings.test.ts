import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { createTestHost, type TestHost } from '#testing';
import { shapes } from '../../host/definitions.ts';
import * as methods from '../../host/loader/services.ts';
import type { MethodKind } from '../../host/loader/services.ts';
import { createPluginFolders, type PluginFolders } from './helpers/plugin-folders.ts';

const code = `export default { register(host) {
  host.admin.addPage({ slug: 'careless', title: 'Careless', script: 'gone.js', style: 'there.css', render: () => '' });
  host.admin.addPage({ slug: 'careless/other', title: 'Other', script: 'careless/lost.js', render: () => '' });
  const addPage = (slug, more) => host.admin.addPage({ slug: 'careless/' + slug, title: slug, ...more });
  addPage('nothing', { render: async () => undefined });
  addPage('list', { render: async () => ['careless/page'] });
  addPage('lazy', { body: async () => 'a body' });
  addPage('sent', { render: async () => ({ template: 'careless/page' }), actions: { save: async () => ({ page: 'done' }) } });
  for (const file of ['gone.png', 'there.css']) host.assets.url(file);
  for (const file of ['../plugin.json', 'a/../../b', '/etc/passwd', '..\\\\b'])
    for (const use of [() => host.assets.url(file), () => host.admin.addPage({ slug: 'careless/out', title: 'Out', script: 'careless/' + file, render: () => '' })])
      try { use(); host.log.warn('Taken', { event: 'taken', file }); } catch (error) { host.log.warn(error.message, { event: 'refused' }); }
  host.jobs.define({ name: 'careless', attempts: 1, run: async () => { throw new Error('boom'); } });
  host.hooks.addAction('wp_abilities_api_categories_init', () =>
    host.abilities.registerCategory('careless', { label: 'Careless', description: 'Careless.' }));
  host.hooks.addAction('wp_abilities_api_init', () => host.abilities.register('careless/one', {
    label: 'One', description: 'One.', category: 'careless', execute: () => 1,
    permission: (_input, _call, { user }) => user.can('read'),
  }));
} };`;

describe('what a plugin registered without effect', () => {
  let folders: PluginFolders;
  let others: PluginFolders;
  let host: TestHost;
  before(async () => {
    [folders, others] = await Promise.all([createPluginFolders(), createPluginFolders()]);
    await folders.write('careless', {
      files: {
        'index.js': code,
        'assets/there.css': 'p {}',
        'views/page.hbs': '<form method="post">{{nonceField}}</form>',
      },
    });
    await others.write('careless', { files: { 'index.js': code } });
    host = await createTestHost({ plugins: ['careless'], pluginDirs: [folders.directory, others.directory] });
  });
  after(async () => {
    await host.stop();
    await Promise.all([folders.remove(), others.remove()]);
  });

  it('is refused if it leads out of its assets, in code and in the declaration of a page', () => {
    const lines = host.logged.map((line) => JSON.parse(line) as { event?: string; message: string });
    expect(lines.filter(({ event }) => event === 'taken')).to.deep.equal([]);
    const refused = lines.filter(({ event }) => event === 'refused').map(({ message }) => message);
    expect(refused).to.have.length(8);
    for (const message of refused)
      expect(message).to.match(/leads out of the folder 'assets' of 'careless'.*Name a file/);
  });

  it('is named in the log: missing files, and the plugin that it hides', () => {
    const reasons = host.logged
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ event, plugin }) => event === 'plugin_warning' && plugin === 'careless')
      .map(({ reason }) => reason);
    expect(reasons).to.deep.equal([
      `The plugin in ${folders.directory}/careless hides the one of the same name in ${others.directory}/careless. Rename or remove one of them.`,
      "The file 'gone.js', which the page 'careless' names, is not in the plugin's folder 'assets'.",
      "The file 'careless/lost.js', which the page 'careless/other' names, is not in the plugin's folder 'assets'.",
      "The file 'gone.png', which assets.url names, is not in the plugin's folder 'assets'.",
    ]);
  });

  it('is listed with the plugin that it hides while it is inactive, too', async () => {
    const found = await createTestHost({ plugins: 'found', pluginDirs: [folders.directory, others.directory] });
    const [listed] = JSON.parse((await found.cli('plugin', 'list', '--json')).out) as Record<string, unknown>[];
    await found.stop();
    expect(listed).to.deep.include({
      ...{ slug: 'careless', state: 'inactive' },
      warnings: `The plugin in ${folders.directory}/careless hides the one of the same name in ${others.directory}/careless. Rename or remove one of them.`,
    });
  });

  it('is a page that returns no template: the log and the browser name the plugin', async () => {
    const { open, submit } = await host.signIn();
    for (const slug of ['', '/nothing', '/list', '/lazy']) {
      const { status, text } = await open(`careless${slug}`);
      expect([slug, status]).to.deep.equal([slug, 500]);
      expect(text).to.contain('The plugin &#x27;careless&#x27; failed. See the server log');
    }
    expect((await submit('careless/sent', 'save', {})).status).to.equal(500);
    const failed = host.logged
      .map((line) => JSON.parse(line) as { event?: string; plugin?: string; error?: { message: string } })
      .filter(({ event }) => event === 'admin_page_failed');
    const instead = 'instead of { template, data }.';
    expect(failed.map(({ plugin, error }) => [plugin, error?.message])).to.deep.equal(
      [
        `'render' of the page 'careless' (plugin 'careless') returned a text ${instead}`,
        `'render' of the page 'careless/nothing' (plugin 'careless') returned nothing ${instead}`,
        `'render' of the page 'careless/list' (plugin 'careless') returned something else ${instead}`,
        "'body' of the page 'careless/lazy' returned no object with a function 'render'.",
        `An action of the page 'careless/sent' (plugin 'careless') returned a text ${instead}`,
      ].map((message) => ['careless', message]),
    );
  });

  it('and fails later is named by its plugin: jobs, and permissions of abilities that throw', async () => {
    await host.jobs.forOwner('careless').add('careless', {});
    await host.jobs.drain();
    const { user } = await host.signIn();
    const error = await host.abilities.run('careless/one', null, { user }).catch((thrown: unknown) => thrown);
    expect(error).to.include({ code: 'ability_failed', status: 500 });
    const named = (event: string) =>
      host.logged.map((line) => JSON.parse(line) as Record<string, unknown>).find((line) => line['event'] === event);
    expect(named('job_failed')).to.include({ plugin: 'careless' });
    expect(named('ability_failed')).to.include({ plugin: 'careless', ability: 'careless/one' });
  });
});

const typesOf = 'Types are: string, number, integer, boolean, object, array, null.';

/** A call with a wrong definition, and what its author reads. */
const wrong: readonly (readonly [call: string, ...sentences: string[]])[] = [
  [
    `options.registerSetting('wrong_a', { schema: { type: 'integr' } })`,
    `In host.options.registerSetting('wrong_a'), 'group' is missing. It must be a text.`,
    `In host.options.registerSetting('wrong_a'), 'schema' has the unknown type 'integr'. ${typesOf}`,
  ],
  [
    `options.registerSetting('wrong_b', { group: 'general', schema: { properties: { a: { type: 'integer', minimun: 1, default: 'many' } } } })`,
    `In host.options.registerSetting('wrong_b'), 'schema.properties.a.minimun' has no effect. Did you mean 'minimum'?`,
    `In host.options.registerSetting('wrong_b'), 'schema.properties.a.default' does not fit its schema: default is not of type integer.`,
  ],
  [
    `content.registerMeta('post', 'wrong', { schema: { type: 'integer' }, default: 'many' })`,
    `In host.content.registerMeta('post','wrong'), 'default' does not fit its schema: default is not of type integer.`,
  ],
  [
    `content.registerPostType('wrong', { label: 'Wrong', singularLabel: 'Wrong', publik: true, supports: ['titel'] })`,
    `In host.content.registerPostType('wrong'), 'supports' has the unknown item 'titel'. Known are: title, editor, excerpt, ` +
      `author, thumbnail, revisions, page-attributes, custom-fields, comments.`,
    `In host.content.registerPostType('wrong'), 'publik' has no effect. Did you mean 'public'?`,
  ],
  [`content.addShortcode('wrong', 'text')`, `In host.content.addShortcode('wrong'), argument 2 must be a function.`],
  [
    `cli.addCommand({ name: 'wrong', description: 'x', unforeseen: 1 })`,
    `In host.cli.addCommand('wrong'), 'run' is missing. It must be a function.`,
  ],
  [
    `cli.addCommand({ name: 'wrong too', description: 'x', flags: { n: { type: 'integer', default: 'x' } }, run() {} })`,
    `In host.cli.addCommand('wrong too'), 'flags.n.default' does not fit its schema: default is not of type integer.`,
  ],
  [
    `cron.schedule('now and then', 'wrong')`,
    `The cron event 'wrong' is not scheduled, because 'now and then' is neither the name of a schedule nor a cron expression. ` +
      `Write 'hourly', 'twicedaily', 'daily', 'weekly', or an expression such as '*/5 * * * *'.`,
  ],
  [
    `rest.registerRoute('wrong/v1', '/a', { methods: ['FETCH', 'GET'], args: { q: { type: 'text' } }, permission: () => true, handler() {} })`,
    `In host.rest.registerRoute('wrong/v1','/a'), 'methods' has the unknown item 'FETCH'. Known are: GET, POST, PUT, PATCH, DELETE.`,
    `In host.rest.registerRoute('wrong/v1','/a'), 'args.q' has the unknown type 'text'. ${typesOf}`,
  ],
  [
    `rest.registerRoute('wrong/v1', '/b', { permission: () => true, hander() {} })`,
    `In host.rest.registerRoute('wrong/v1','/b'), 'handler' is missing. It must be a function.`,
    `In host.rest.registerRoute('wrong/v1','/b'), 'hander' has no effect. Did you mean 'handler'?`,
  ],
  [
    `admin.addPage({ slug: 'wrong', title: 'Wrong' })`,
    `In host.admin.addPage('wrong'), 'render' or 'body' is missing. It must be a function.`,
  ],
  [
    `admin.addPage({ slug: 'wrong/a', title: 'Wrong', render() {}, actions: { save: 'save' } })`,
    `In host.admin.addPage('wrong/a'), 'actions.save' must be a function.`,
  ],
  [`admin.addNotice({ kind: 'info' })`, `In host.admin.addNotice(), 'show' is missing. It must be a function.`],
  [`admin.addBadge('3')`, `In host.admin.addBadge(), argument 1 must be a function.`],
  [
    `admin.addSetupChoice({ id: 'wrong', label: 'x', description: 'x' })`,
    `In host.admin.addSetupChoice('wrong'), 'choose' is missing. It must be a function.`,
  ],
  [
    `jobs.every('daily', { name: 'wrong' })`,
    `In host.jobs.every('daily','wrong'), 'run' is missing. It must be a function.`,
  ],
  [`metrics.add('wrong 1')`, `In host.metrics.add(), argument 1 must be a function.`],
  [
    `site.addPage({ path: 'wrong', title: 'Wrong' })`,
    `In host.site.addPage('wrong'), 'render' is missing. It must be a function.`,
  ],
  [
    `hooks.addFilter('svc_event_schemas', (events) => [...events, { name: 'wrong.done', example: { no: 1 },
      schema: { type: 'object', required: ['id'], properties: { id: { type: 'string' } } } }])`,
    `In the filter 'svc_event_schemas', the example of the event 'wrong.done' does not fit its schema: data must have required property 'id'.`,
  ],
];

/** Calls that ended with an error before: one of types begins with what the check found. */
const refused: readonly (readonly [call: string, sentence: string])[] = [
  [
    `content.registerTaxonomy('wrong', null)`,
    `In host.content.registerTaxonomy('wrong'), argument 2 must be an object.`,
  ],
  [`admin.addPage(null)`, `In host.admin.addPage(), argument 1 must be an object.`],
  [`jobs.define({ name: 'wrong', run: 1 })`, `In host.jobs.define('wrong'), 'run' must be a function.`],
  [`rest.registerRoute('wrong', '/c', [])`, `The route '/wrong/c' has no definition. Give it a handler.`],
];

describe('a definition that a plugin registers', () => {
  it('is checked at once, works as before, and says member and what to write: of every kind', async () => {
    const folders = await createPluginFolders();
    const calls = [...wrong, ...refused].map(
      ([call], index) =>
        `try { await host.${call}; } catch (error) { host.log.warn(error.message, { event: 'refused', index: ${index} }); }`,
    );
    await folders.write('wrong', {
      files: { 'index.js': `export default { async register(host) {\n${calls.join('\n')}\n} };` },
    });
    const host = await createTestHost({
      plugins: ['svc', 'wrong'],
      pluginDirs: [folders.directory, fileURLToPath(new URL('../../plugins', import.meta.url))],
    });
    const { warnings = [], state } = host.plugins.list().find(({ slug }) => slug === 'wrong') ?? {};
    await host.stop();
    await folders.remove();
    const lines = host.logged.map(
      (line) => JSON.parse(line) as { event?: string; message: string; reason?: string; plugin?: string },
    );
    expect(state).to.equal('active');
    expect(warnings).to.have.members(wrong.flatMap(([, ...sentences]) => sentences));
    expect(
      lines.filter(({ event, plugin }) => event === 'plugin_warning' && plugin === 'wrong').map(({ reason }) => reason),
    ).to.have.members(warnings);
    const errors = lines.filter(({ event }) => event === 'refused').map(({ message }) => message);
    expect(errors).to.have.length(refused.length);
    for (const [index, [, sentence]] of refused.entries()) expect(errors[index]).to.include(sentence);
    const german = host.translations.language('de_DE');
    for (const each of warnings.filter((warning) => warning.startsWith('In host.')))
      expect(german?.translate(each)).to.match(/^In host\.[^()]+\([^()]*\) (?:muss|fehlt|hat|passt) /);
    expect(german?.translate(warnings[0] ?? '')).to.equal(
      "In host.options.registerSetting('wrong_a') fehlt „group“. Es muss ein Text sein.",
    );
  });

  it('has its members listed, whatever the method', () => {
    const registering = Object.values(methods as Readonly<Record<string, Readonly<Record<string, MethodKind>>>>)
      .flatMap((kinds) => Object.keys(kinds).filter((name) => kinds[name] === 'undo'))
      .filter((name) => !Object.hasOwn(shapes, name));
    // These take a name and plain values, or an object of the plugin.
    expect(registering).to.have.members(['addStore', 'addSchedule', 'unregister', 'addCapability', 'provide']);
  });
});
