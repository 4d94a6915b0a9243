import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { disallowFileMods } from '../../host/users/user.ts';
import { describeDialects } from '../helpers/dialects.ts';
import { pluginFiles, writeZip } from '../loader/helpers/zips.ts';
import { openPages, type AdminBrowser, type PageAnswer, type PagesSite, type UploadPart } from './pages-site.ts';

const entry = `export default {
  register(host) { host.hooks.addFilter('sample', () => 'here'); },
  async uninstall(host) { await host.options.delete('sample_data'); },
  async health() { return [{ status: 'good', label: 'Stock is full', description: 'All shelves.' }, { status: 'critical', label: 'The <till> is open', description: '' }]; },
};`;

/** The nonce of the page's forms, whichever of them is there. */
const nonceIn = (html: string): string =>
  /plugins\?action&#x3D;\w+"[^]*?name="_nonce" value="([^"]+)"/.exec(html)?.[1] ?? '';

describeDialects('the page Plugins', (_open, dialectCase) => {
  let site: PagesSite;
  let browser: AdminBrowser;
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-plugins-page-'));
    site = await openPages(dialectCase, {}, { plugins: 'found', pluginDirs: [join(folder, 'plugins')] });
    await site.create({ login: 'ada', role: 'administrator' });
    browser = await site.signIn('ada');
  });
  afterEach(async () => {
    await site.host.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function zip(manifest: object = {}, code = entry): Promise<UploadPart> {
    const file = await writeZip({ file: join(folder, 'sample.zip'), contents: pluginFiles(manifest, code) });
    return { name: 'sample.zip', bytes: await readFile(file) };
  }
  const install = (part: UploadPart, more: Readonly<Record<string, string>> = {}): Promise<PageAnswer> =>
    browser.upload('/admin/plugins', 'install', { zip: part, ...more });
  const installed = async (): Promise<string[]> => (await readdir(join(folder, 'plugins')).catch(() => [])).sort();
  const states = (): string =>
    site.host.plugins
      .list()
      .map(({ slug, version, state }) => `${slug} ${version} ${state}`)
      .join();

  it('installs a zip, inactive until it is asked for, and later a newer version', async () => {
    expect((await browser.get('/admin/plugins')).text).to.contain('No plugins yet');
    expect((await install(await zip())).text).to.contain('Sample 1.0.0 installed.');
    expect(states()).to.equal('sample 1.0.0 inactive');
    expect((await browser.submit('/admin/plugins', 'activate', { slug: 'sample' })).text).to.contain(
      'Sample activated.',
    );
    expect(site.host.hooks.applyFilters('sample', 'nothing')).to.equal('here');
    expect((await install(await zip({ version: '1.1.0' }))).text).to.contain('Sample updated from 1.0.0 to 1.1.0.');
    expect(states()).to.equal('sample 1.1.0 active');
    expect(await installed()).to.deep.equal(['sample']);
  });

  it('installs and activates at once when the box is ticked', async () => {
    expect((await install(await zip(), { activate: '1' })).text).to.contain('Sample 1.0.0 installed and activated.');
    expect(states()).to.equal('sample 1.0.0 active');
  });

  it('lets no administrator install or uninstall with DISALLOW_FILE_MODS', async () => {
    await install(await zip());
    const nonce = nonceIn((await browser.get('/admin/plugins')).html);
    disallowFileMods(site.host.hooks);
    const { text } = await browser.get('/admin/plugins');
    expect(text).to.contain('Sample').and.not.contain('Install a plugin').and.not.contain('Uninstall');
    expect(nonce).not.to.equal('');
    for (const action of ['install', 'uninstall']) {
      const fields = { slug: 'sample', _nonce: nonce };
      await browser.post(`/admin/plugins?action=${action}`, fields);
      expect((await browser.get('/admin/plugins')).text, action).to.contain('You are not allowed to do this.');
    }
    expect((await browser.submit('/admin/plugins', 'activate', { slug: 'sample' })).text).to.contain('activated');
    expect(states()).to.equal('sample 1.0.0 active');
  });

  it('says why a zip is refused, and leaves nothing of it', async () => {
    const text = { name: 'plugin.zip', bytes: Buffer.from('no zip at all') };
    expect((await install(text)).text).to.match(/plugin\.zip: The zip file cannot be unpacked/);
    expect((await install(await zip({ slug: '../up' }))).text).to.contain('"slug" must be lowercase letters');
    expect((await install(await zip({ autoActivate: true }))).text).to.contain('"autoActivate"');
    expect((await browser.upload('/admin/plugins', 'install', {})).text).to.contain('Choose the zip file of a plugin.');
    expect((await install({ name: 'empty.zip', bytes: Buffer.alloc(0) })).text).to.contain(
      'Choose the zip file of a plugin.',
    );
    expect((await install({ name: 'large.zip', bytes: Buffer.alloc(20 * 1_048_576 + 1) })).text).to.contain(
      'The file is larger than 20 MB.',
    );
    expect(await installed()).to.deep.equal([]);
    await install(await zip());
    expect((await install(await zip())).text).to.contain("The plugin 'sample' 1.0.0 is already installed.");
  });

  it('keeps a plugin that cannot be activated, with the stage and the reason', async () => {
    const answer = await install(await zip({}, `export default { register() { throw new Error('no <way>'); } };`), {
      activate: '1',
    });
    expect(answer.text).to.contain('Disabled after an error (register).').and.contain('no <way>');
    expect(states()).to.equal('sample 1.0.0 failed');
  });

  it('activates several at once with an Undo, and filters and sorts the list', async () => {
    await install(await zip());
    await install(await zip({ slug: 'other', name: 'Other' }));
    const done = await browser.submit('/admin/plugins', 'bulk', { do: 'activate', ids: 'sample,other', back: 's=o' });
    expect(done.text).to.contain('2 plugins activated.').and.contain('Search: o').and.contain('Other');
    expect(done.html).to.contain('name="ids" value="other,sample"');
    expect(states()).to.equal('other 1.0.0 active,sample 1.0.0 active');
    const again = await browser.submit('/admin/plugins', 'bulk', { do: 'activate', ids: 'sample' });
    expect(again.text).to.contain('Nothing to do: these plugins are activated already.');
    await browser.submit('/admin/plugins', 'bulk', { do: 'deactivate', ids: 'other,nothing' });
    expect(states()).to.equal('other 1.0.0 inactive,sample 1.0.0 active');
    const { html, text } = await browser.get('/admin/plugins?state=inactive');
    expect(text).to.contain('Active (1)');
    expect(html).to.contain('Select Other').and.not.contain('Select Sample');
    expect((await browser.submit('/admin/plugins', 'bulk', { ids: 'other' })).text).to.contain('Select entries');
  });

  it('uninstalls an inactive plugin with data and folder, and asks for that before', async () => {
    await install(await zip(), { activate: '1' });
    await site.host.options.update('sample_data', { kept: true });
    expect((await browser.get('/admin/plugins')).html).not.to.contain('action&#x3D;uninstall');
    await browser.submit('/admin/plugins', 'deactivate', { slug: 'sample' });
    expect((await browser.get('/admin/plugins')).html).to.contain(
      'name="_question" value="Uninstall Sample? This deletes all its data. You cannot undo this."',
    );
    expect((await browser.submit('/admin/plugins', 'uninstall', { slug: 'sample' })).text).to.contain(
      'Sample uninstalled. Its data and folder were deleted.',
    );
    expect(await site.host.options.get('sample_data')).to.equal(false);
    expect([await installed(), states()]).to.deep.equal([[], '']);
  });

  it('does not uninstall what is active, nor what is not there', async () => {
    await install(await zip());
    const nonce = nonceIn((await browser.get('/admin/plugins')).html);
    await browser.submit('/admin/plugins', 'activate', { slug: 'sample' });
    await browser.post('/admin/plugins?action=uninstall', { slug: 'sample', _nonce: nonce });
    expect((await browser.get('/admin/plugins')).text).to.contain(
      "The plugin 'sample' is active; deactivate it before you uninstall it.",
    );
    await browser.post('/admin/plugins?action=uninstall', { slug: 'other', _nonce: nonce });
    expect((await browser.get('/admin/plugins')).text).to.contain('Plugin not found. It may have been removed.');
    expect(states()).to.equal('sample 1.0.0 active');
  });

  it('shows what a plugin finds about itself, and when it has no checks', async () => {
    await install(await zip(), { activate: '1' });
    const { html, text } = await browser.submit('/admin/plugins', 'health', { slug: 'sample' });
    expect(text).to.contain('Stock is full All shelves.').and.contain('The <till> is open');
    expect(html)
      .to.match(/notice-success[^]*Stock is full/)
      .and.match(/notice-error[^]*The &lt;till&gt; is open/);
    await install(await zip({ version: '1.0.1' }, 'export default { register() {} };'));
    expect((await browser.submit('/admin/plugins', 'health', { slug: 'sample' })).text).to.contain(
      'This plugin has no health checks.',
    );
  });

  it('offers and does no more than one’s capabilities allow, and only for genuine forms', async () => {
    await install(await zip());
    const part = await zip({ version: '2.0.0' });
    const withoutNonce = await browser.upload('/admin/plugins', 'install', { zip: part, _nonce: 'wrong' });
    expect(withoutNonce.status).to.equal(403);
    site.host.hooks.addFilter('user_has_cap', (held) => ({ ...held, install_plugins: false, delete_plugins: false }));
    const { html } = await browser.get('/admin/plugins');
    expect(html).not.to.contain('action&#x3D;install').and.not.contain('action&#x3D;uninstall');
    const nonce = nonceIn(html);
    for (const action of ['install', 'uninstall']) {
      await browser.post(`/admin/plugins?action=${action}`, { slug: 'sample', _nonce: nonce });
      expect((await browser.get('/admin/plugins')).text).to.contain('You are not allowed to do this.');
    }
    await site.create({ login: 'eve', role: 'editor' });
    expect((await (await site.signIn('eve')).get('/admin/plugins')).status).to.equal(403);
    expect(states()).to.equal('sample 1.0.0 inactive');
  });
});
