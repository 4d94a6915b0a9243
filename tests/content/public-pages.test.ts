import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createTestHost, type TestHost } from '#testing';
import { createPublicPages } from '../../host/content/site/public-pages.ts';

const code = `export default { register(host) {
  host.site.addPage({ path: 'open/house', title: 'Open <house>', description: 'Come in', style: 'house.css',
    render: async ({ query }) => ({ template: 'house/page', data: { name: query.name ?? 'you' } }) });
  host.site.addPage({ path: 'plain', title: 'Plain', render: async () => 'Hello' });
  host.site.addPage({ path: 'broken', title: 'Broken', render: async () => { throw new Error('a secret of the page'); } });
} };`;

describe('public pages of plugins', () => {
  let folder = '';
  let host: TestHost;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'public-pages-'));
    await mkdir(join(folder, 'house/views'), { recursive: true });
    await mkdir(join(folder, 'house/assets'));
    await writeFile(
      join(folder, 'house/plugin.json'),
      JSON.stringify({ slug: 'house', name: 'House', version: '1.0.0', description: '', main: 'index.js', host: '^1' }),
    );
    await writeFile(join(folder, 'house/index.js'), code);
    await writeFile(join(folder, 'house/views/page.hbs'), '<h1>Welcome {{name}}</h1>');
    await writeFile(join(folder, 'house/assets/house.css'), 'h1 { margin: 0 }');
    host = await createTestHost({ plugins: ['house'], pluginDirs: [folder] });
  });
  after(async () => {
    await host.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('stand in the site’s layout, for everybody, with what they say of themselves and their style', async () => {
    const response = await host.fetch('/open/house?name=%3Cb%3E');
    const html = await response.text();
    expect(response.status).to.equal(200);
    expect(html)
      .to.contain('<h1>Welcome &lt;b&gt;</h1>')
      .and.contain('<title>Open &lt;house&gt; · ')
      .and.contain('content="Come in"')
      .and.contain(`rel="canonical" href="${host.url}/open/house"`);
    const [, style = ''] = /href="(\/assets\/house\/house\.css\?v=[^"]+)"/.exec(html) ?? [];
    expect((await host.fetch(style)).status).to.equal(200);
    expect((await host.fetch('/open/house/')).status).to.equal(200);
    const head = await host.fetch('/open/house', { method: 'HEAD' });
    expect([head.status, await head.text()]).to.deep.equal([200, '']);
  });

  it('answer neither other methods nor other addresses', async () => {
    expect((await host.fetch('/open/house', { method: 'POST' })).status).to.equal(404);
    expect((await host.fetch('/open')).status).to.equal(404);
    expect((await host.fetch('/open/house/x')).status).to.equal(404);
  });

  it('tell a visitor nothing of what went wrong in them', async () => {
    const response = await host.fetch('/broken');
    expect(response.status).to.equal(500);
    expect(await response.text()).to.not.contain('secret');
  });

  it('are named in the log with their plugin where they return no template', async () => {
    expect((await host.fetch('/plain')).status).to.equal(500);
    expect(host.logged.join('')).to.contain(
      "'render' of the public page 'plain' (plugin 'house') returned a text instead of { template, data }.",
    );
  });

  it('have addresses that are each used once, and go with their plugin', async () => {
    const pages = createPublicPages({ renderPage: async () => '', assetUrl: () => '', siteUrl: () => '' });
    const page = { path: 'a', title: 'A', render: async () => ({ template: 'a' }) };
    const undo = pages.add('one', page);
    expect(() => pages.add('two', page)).to.throw("The public page 'a' already exists.");
    undo();
    pages.add('two', page);
    for (const path of ['', '/a', 'a/', 'A', '../a', 'a//b'])
      expect(() => pages.add('one', { ...page, path }), path).to.throw('is not a valid path of a public page');
    await host.plugins.deactivate('house');
    expect((await host.fetch('/open/house')).status).to.equal(404);
  });
});
