import { expect } from 'chai';
import { createTestHost, type TestHost } from '#testing';
import { createPluginFolders, type PluginFolders } from './helpers/plugin-folders.ts';

const code = `export default { register(host) {
  host.admin.addPage({ slug: 'careless', title: 'Careless', script: 'gone.js', style: 'there.css', render: () => '' });
  host.admin.addPage({ slug: 'careless/other', title: 'Other', script: 'careless/lost.js', render: () => '' });
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
    await folders.write('careless', { files: { 'index.js': code, 'assets/there.css': 'p {}' } });
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
      `It hides the plugin of the same name in ${others.directory}/careless. Rename or remove one of them.`,
      "The file 'gone.js', which the page 'careless' names, is not in the plugin's folder 'assets'.",
      "The file 'careless/lost.js', which the page 'careless/other' names, is not in the plugin's folder 'assets'.",
      "The file 'gone.png', which assets.url names, is not in the plugin's folder 'assets'.",
    ]);
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
