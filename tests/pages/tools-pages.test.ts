import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { createTestHost } from '#testing';
import { describeSharedHosts } from '../helpers/dialects.ts';
import { shareSite } from '../helpers/share-site.ts';
import type { FormField } from '#plugin-api';
import { openPages, type AdminBrowser, type PagesSite } from './pages-site.ts';

interface Example {
  register(host: PagesSite['host']): void;
  read(form: object): { readonly errors: object; readonly fields: readonly FormField[] };
}

/** The code of the README, as a module. */
async function loadExample(folder: string): Promise<Example> {
  const readme = await readFile('host/plugin-api/forms/README.md', 'utf8');
  const [, code = ''] = /```js\n([\s\S]*?)```/.exec(readme) ?? [];
  const file = join(folder, 'example.mjs');
  await writeFile(file, code.replace("'#plugin-api'", JSON.stringify(import.meta.resolve('#plugin-api'))));
  return (await import(pathToFileURL(file).href)) as Example;
}

describeSharedHosts('the pages settings and tools', (dialectCase) => {
  let site: PagesSite;
  let browser: AdminBrowser;
  const shared = shareSite(() => openPages(dialectCase, { DATA_DIR: dialectCase.directory() }));
  const backups = (): string => join(dialectCase.directory(), 'backups');
  beforeEach(async () => {
    site = shared();
    await site.create({ login: 'ada', role: 'administrator' });
    browser = await site.signIn('ada');
  });
  afterEach(() => rm(backups(), { recursive: true, force: true }));

  it('list abilities and run them as the person who is signed in', async () => {
    const list = await browser.get('/admin/abilities');
    expect(list.text).to.contain('core/get-site-info').and.contain('host/trash-post');
    expect((await browser.get('/admin/abilities?s=trash')).text)
      .to.contain('1 ability')
      .and.not.contain('core/get-site-info');
    expect((await browser.get('/admin/abilities?s=nothing+like+it')).text).to.contain('No abilities found');
    expect((await browser.get('/admin/abilities?name=core/nothing')).text).to.contain(
      'No active plugin has this ability.',
    );
    const run = (name: string, input: string) =>
      browser.submit(`/admin/abilities?name=${encodeURIComponent(name)}`, 'run', { name, input });
    const info = await run('core/get-site-info', '{ "fields": ["name"] }');
    expect(info.html)
      .to.contain('&quot;name&quot;: &quot;My site&quot;')
      .and.contain('{ &quot;fields&quot;: [&quot;name&quot;] }');
    expect((await run('core/get-site-info', '{')).text)
      .to.contain('The input is not JSON')
      .and.contain('Status 400');
    expect((await run('core/get-site-info', '{"fields":[7]}')).text).to.contain('ability_invalid_input');
    const form = await browser.get('/admin/abilities?name=host/trash-post');
    expect(form.html).to.contain('&quot;id&quot;').and.contain('name="_question"');
    expect(form.text).to.contain('May delete or overwrite');
    const drafted = await run('host/create-draft', '{"title":"Old","content":"Text"}');
    const id = /&quot;id&quot;: (\d+)/.exec(drafted.html)?.[1] ?? '';
    expect((await run('host/trash-post', `{"id":${id}}`)).text).to.contain('The ability ran.');
    expect((await run('host/read-post', `{"id":${id}}`)).html).to.contain('&quot;status&quot;: &quot;trash&quot;');
  });

  it('save settings in the types of their schemas', async () => {
    const saved = await browser.submit('/admin/settings', 'save', {
      'settings[blogname]': ' Ada’s <site> ',
      'settings[timezone_string]': 'Europe/Berlin',
      'settings[blogdescription]': '',
    });
    expect(saved.text).to.contain('Settings saved.');
    expect(
      await Promise.all(['blogname', 'timezone_string', 'blogdescription'].map((name) => site.host.options.get(name))),
    ).to.deep.equal(['Ada’s <site>', 'Europe/Berlin', '']);
    expect(saved.html).to.match(/<optgroup label="Europe">.*<option value="Europe\/Berlin" selected[^>]*>Berlin</s);
    expect(saved.html).to.match(/<optgroup label="America">.*>Indiana, Tell City</s);
    await browser.submit('/admin/settings', 'save', {
      'settings[rest_allowed_origins]': 'https://one.example\r\n\r\nhttps://two.example/\r\n',
    });
    expect(await site.host.options.get('rest_allowed_origins')).to.deep.equal([
      'https://one.example',
      'https://two.example',
    ]);
  });

  it('offer the categories of posts by name', async () => {
    const tea = await site.host.content.terms.create('category', { name: 'Tea & more' });
    const { html } = await browser.get('/admin/settings');
    expect(html).to.match(/<label[^>]+>Default category<.*<option value="1" selected>Uncategorized</s);
    expect(html).to.match(new RegExp(`<option value="${String(tea.id)}"\\s*>Tea &amp; more<`));
    await browser.submit('/admin/settings', 'save', { 'settings[default_category]': String(tea.id) });
    expect(await site.host.options.get('default_category')).to.equal(tea.id);
  });

  it('offer the languages that have texts, and keep another one that is stored', async () => {
    const languages = async (page: string): Promise<string> => {
      const { html } = await browser.get(page);
      return (
        /<select[^>]+name="(?:settings\[WPLANG\]|locale)".*?<\/select>/s.exec(html)?.[0].replace(/\s+/g, ' ') ?? ''
      );
    };
    expect(await languages('/admin/settings')).to.match(
      /<option value="" selected>English<.*<option value="de">Deutsch</,
    );
    expect(await languages('/admin/profile')).to.match(
      /<option value="" selected>Language of the site<.*value="en">English<.*value="de">Deutsch</,
    );
    await site.host.options.update('WPLANG', 'de_DE');
    expect(await languages('/admin/settings')).to.match(/<option value="de_DE" selected>Deutsch</);
    await site.host.options.update('WPLANG', 'fr_CA');
    expect(await languages('/admin/settings')).to.contain('<option value="fr_CA" selected>');
  });

  it('show a sentence at a refused setting and store none of the form', async () => {
    const refused = await browser.submit('/admin/settings', 'save', {
      'settings[blogname]': 'New name',
      'settings[timezone_string]': 'Europe/Atlantis',
    });
    expect(refused.status).to.equal(400);
    expect(refused.text).to.contain('Nothing was saved.').and.contain("Unknown time zone 'Europe/Atlantis'.");
    expect(refused.html)
      .to.contain('value="New name"')
      .and.match(/id="setting-timezone-string"[^>]*aria-invalid="true"/);
    expect(await site.host.options.get('blogname')).to.equal('My site');
  });

  it('show a plugin’s group once it is named, and never a secret', async () => {
    site.host.options.registerSetting('shop_size', {
      group: 'shop',
      label: 'Size',
      schema: { type: 'integer', minimum: 1, default: 3 },
    });
    site.host.options.registerSetting('shop_open', {
      group: 'shop',
      label: 'Open',
      schema: { type: 'boolean', default: false },
    });
    site.host.options.registerSetting('shop_key', {
      group: 'shop',
      label: 'Key',
      schema: { type: 'string', writeOnly: true, default: 'hush' },
    });
    expect((await browser.get('/admin/settings')).text).not.to.contain('Size');
    site.host.hooks.addFilter('admin_settings_groups', (groups) => [...groups, { id: 'shop', title: 'Shop' }]);
    expect((await browser.get('/admin/settings')).html)
      .to.contain('Shop')
      .and.not.contain('hush');
    expect(
      (
        await browser.submit('/admin/settings', 'save', {
          'settings[shop_size]': '0',
          'settings[shop_open]': '1',
        })
      ).text,
    ).to.contain('Size must be 1 or more.');
    await browser.submit('/admin/settings', 'save', {
      'settings[shop_size]': '7',
      'settings[shop_open]': '1',
    });
    expect([await site.host.options.get('shop_size'), await site.host.options.get('shop_open')]).to.deep.equal([
      7,
      true,
    ]);
  });

  it('show and store the setting of the documented example, an object', async () => {
    const { register, read } = await loadExample(dialectCase.directory());
    register(site.host);
    const refused = await browser.submit('/admin/settings', 'save', {
      'settings[stock][least]': '-1',
      'settings[stock][suppliers]': 'Acme\r\n\r\n Umbrella ',
      'settings[stock][mail]': 'jo',
    });
    expect(refused.text)
      .to.contain('Reorder below must be 0 or more.')
      .and.contain('Notify must be an email address, such as jo@example.com.');
    expect(refused.html).to.match(/id="setting-stock-least"[^>]*value="-1"[^>]*aria-invalid="true"/);
    expect(await site.host.options.get('stock')).to.deep.equal({});
    await browser.submit('/admin/settings', 'save', {
      'settings[stock][least]': '7',
      'settings[stock][suppliers]': 'Acme\r\n\r\n Umbrella ',
      'settings[stock][mail]': 'jo@example.com',
    });
    const stored = { least: 7, suppliers: ['Acme', 'Umbrella'], mail: 'jo@example.com' };
    expect(await site.host.options.get('stock')).to.deep.equal(stored);
    const { errors, fields } = read({ least: '-1' });
    expect(errors).to.deep.equal({ least: 'least must be 0 or more.' });
    expect(fields[0]).to.include({ id: 'stock-least', name: 'least', error: 'Reorder below must be 0 or more.' });
  });

  it('show cron events and history, run an event now and delete it', async () => {
    expect((await browser.get('/admin/tools/cron')).text).to.contain('Nothing has run yet');
    const ran: unknown[] = [];
    site.host.hooks.addAction('shop_sync', (...args: unknown[]) => void ran.push(args));
    site.host.hooks.addAction('shop_bad', () => {
      throw new Error('The shop is <closed>.');
    });
    const own = site.host.jobs.forOwner('host');
    await own.every('daily', { name: 'shop_tidy', label: 'Tidy the shop', run: async () => undefined });
    await site.host.cron.schedule('hourly', 'shop_sync', { args: [7, 'x'] });
    await site.host.cron.schedule('0 3 * * *', 'shop_bad');
    await site.host.cron.schedule('*/5 * * * *', 'shop_pay');
    const undo = site.host.hooks.addFilter('cron_event_labels', (labels) => ({
      ...labels,
      shop_pay: { label: 'Collect payments', help: 'Asks the bank.' },
    }));
    const { html, text: shown } = await browser.get('/admin/tools/cron');
    undo();
    expect(html)
      .to.contain('Delete: shop_sync')
      .and.not.contain('Delete: shop_tidy')
      .and.not.contain('Delete: shop_pay');
    expect(shown)
      .to.contain('shop_sync [7,"x"]')
      .and.contain('Tidy the shop shop_tidy')
      .and.contain('1 Jan 2026, 01:00 in 1 h')
      .and.contain('Once an hour')
      .and.contain('Every day at 03:00 UTC')
      .and.match(/Collect payments Asks the bank\. shop_pay .* Every 5 minutes/)
      .and.not.contain('* * *');
    expect((await browser.submit('/admin/tools/cron', 'run', { hook: 'shop_sync', args: '[7,"x"]' })).text).to.contain(
      'shop_sync ran.',
    );
    expect(ran).to.deep.equal([[7, 'x']]);
    const failed = await browser.submit('/admin/tools/cron', 'run', { hook: 'shop_bad', args: '[]' });
    expect(failed.text).to.contain('shop_bad failed.').and.contain('Failed');
    expect(failed.html).to.contain('The shop is &lt;closed&gt;.');
    expect((await browser.get('/admin/tools/cron?hook=shop_sync')).text).to.match(/History of shop_sync.*Done/);
    expect(
      (await browser.submit('/admin/tools/cron', 'delete', { hook: 'shop_sync', args: '[7,"x"]' })).text,
    ).to.contain('Event shop_sync deleted.');
    expect(await site.host.cron.next('shop_sync', [7, 'x'])).to.equal(false);
    expect(
      (await browser.submit('/admin/tools/cron', 'delete', { hook: 'shop_sync', args: '[7,"x"]' })).text,
    ).to.contain('This event no longer exists');
  });

  it('show what waits and what failed on the page of the tools', async () => {
    site.host.hooks.addAction('shop_bad', () => {
      throw new Error('Closed.');
    });
    await site.host.cron.schedule('0 3 * * *', 'shop_bad');
    await site.host.cron.run('shop_bad');
    const { text, html } = await browser.get('/admin/tools');
    expect(text)
      .to.match(/Cron .* \d+ events \d+ failures?/)
      .and.match(/Jobs .* \d+ waiting jobs?/)
      .and.match(/Hooks .* \d+ hooks Search hooks/)
      .and.match(/Security log .* Newest: \d+ \w+ \d{4}/)
      .and.contain('No backups yet Create a backup');
    expect(html).to.contain('href="/admin/tools/cron#history"');
    await browser.submit('/admin/tools/backup', 'create');
    expect((await browser.get('/admin/tools')).text).to.match(/Backup .* Newest: \d+ \w+ \d{4}/);
  });

  it('name tags and categories in the case of a sentence', async () => {
    expect((await browser.get('/admin/terms/post_tag')).html)
      .to.contain('No tags yet')
      .and.contain('Search tags');
    expect((await browser.get('/admin/terms/category')).html).to.contain('Search categories');
  });

  it('show the components of pages with LOG_LEVEL=debug alone', async () => {
    expect((await browser.get('/admin/design')).text)
      .to.contain('Design system')
      .and.contain('admin/list-head');
    const quiet = await createTestHost({ env: { LOG_LEVEL: 'info' } });
    try {
      const slugs = quiet.adminPages('host');
      expect(slugs).to.include('tools/hooks').and.not.include('design');
    } finally {
      await quiet.stop();
    }
  });

  it('show hooks with callbacks, owners and counts, and find them', async () => {
    site.host.hooks.addFilter(
      'shop_price',
      function addTax(price: unknown) {
        return price;
      },
      7,
    );
    site.host.hooks.applyFilters('shop_price', 1);
    expect((await browser.get('/admin/tools/hooks?s=ADDTAX')).text).to.match(
      /1 hook with 1 callback.* shop_price 7 addTax test filter · .*tools-pages\.test\.ts:\d+ 1 filter run/,
    );
    site.host.hooks.doAction('shop_unheard');
    expect((await browser.get('/admin/tools/hooks?s=shop_&callbacks=unused')).text).to.match(
      /All \(\d+\) With callbacks \(\d+\) Without callbacks \(\d+\) \d+ hooks? with 0 callbacks.* shop_unheard None 1 action run/,
    );
    expect((await browser.get('/admin/tools/hooks?s=nothing-like-this')).text).to.contain('No hooks found');
  });

  it('hand out a backup as it lies there, and no other file, to those alone who may', async () => {
    await browser.submit('/admin/tools/backup', 'create');
    const directory = backups();
    const [name = ''] = await readdir(directory);
    await writeFile(join(directory, 'other.txt'), 'something else');
    const { status, headers, bytes } = await browser.submit('/admin/tools/backup', 'download', { name });
    expect([
      status,
      headers.get('content-disposition'),
      headers.get('content-type'),
      headers.get('cache-control'),
    ]).to.deep.equal([200, `attachment; filename="${name}"`, 'application/octet-stream', 'no-store']);
    expect(Buffer.from(bytes).equals(await readFile(join(directory, name)))).to.equal(true);
    for (const wrong of ['../site.sqlite', `../backups/${name}`, join(directory, name), 'other.txt', '']) {
      expect((await browser.submit('/admin/tools/backup', 'download', { name: wrong })).text, wrong).to.contain(
        'This backup has already been deleted.',
      );
    }
    expect((await browser.submit('/admin/tools/backup', 'download', { name: `${name}\0` })).status).to.equal(400);
    expect((await browser.post('/admin/tools/backup?action=download', { name, _nonce: 'wrong' })).status).to.equal(403);
    await site.create({ login: 'eve', role: 'editor' });
    const eve = await site.signIn('eve');
    expect((await eve.post('/admin/tools/backup?action=download', { name })).status).to.equal(403);
    expect(site.host.logged.filter((line) => line.includes('Backup downloaded'))).to.have.length(1);
  });

  it('create, list and delete backups, and no other file', async () => {
    const ending = dialectCase.dialect === 'sqlite' ? '.sqlite' : '.jsonl.gz';
    const directory = backups();
    expect((await browser.get('/admin/tools/backup')).text).to.contain('No backups yet');
    const made = await browser.submit('/admin/tools/backup', 'create');
    const name = `backup-20260101-000000${ending}`;
    expect(made.text).to.contain(`Backup ${name} created`).and.contain(`db restore ${directory}/${name}`);
    await browser.submit('/admin/tools/backup', 'create');
    expect((await readdir(directory)).sort()).to.deep.equal([`backup-20260101-000000-2${ending}`, name].sort());
    for (const wrong of ['../site.sqlite', 'site.sqlite', `./${name}`])
      expect((await browser.submit('/admin/tools/backup', 'delete', { name: wrong })).text).to.contain(
        'This backup has already been deleted.',
      );
    expect((await browser.submit('/admin/tools/backup', 'delete', { name })).text).to.contain('Backup deleted.');
    expect(await readdir(directory)).to.deep.equal([`backup-20260101-000000-2${ending}`]);
  });
});
