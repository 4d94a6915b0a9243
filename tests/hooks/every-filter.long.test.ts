import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Post } from '#plugin-api';
import { createTestHost, type SignedIn, type TestHost } from '#testing';
import { createPluginFolders, type PluginFolders } from '../loader/helpers/plugin-folders.ts';

/** Names of the filters in the reference. */
const filters = [
  ...readFileSync(new URL('../../host/plugin-api/HOOKS.md', import.meta.url), 'utf8').matchAll(
    /^### `(.+)`\n\nFilter/gm,
  ),
].map(([, name = '']) => name);

const pages = [
  '/',
  '/?s=hello',
  '/wp-json/',
  '/wp-json/wp/v2/posts',
  '/wp-json/wp/v2/types',
  '/admin',
  '/admin/plugins',
  '/admin/settings',
  '/admin/posts',
  '/admin/tools/site-health?results=1',
  '/readyz',
];

for (const [title, callback] of [
  ['returns nothing', '() => undefined'],
  ['is async', 'async (value) => value'],
] as const)
  describe(`a plugin with a callback on each of ${filters.length} filters that ${title}`, () => {
    let folders: PluginFolders;
    let host: TestHost;
    let browser: SignedIn;
    let post: Post;
    before(async () => {
      folders = await createPluginFolders();
      await folders.write('sloppy', {
        files: {
          'index.js': `export default { register({ hooks }) {
            for (const name of ${JSON.stringify(filters)}) hooks.addFilter(name, ${callback});
          } };`,
        },
      });
      host = await createTestHost({ plugins: ['svc', 'sloppy'], pluginDirs: [folders.directory] });
      browser = await host.signIn();
      post = await host.content.posts.create({
        title: 'Hello page',
        slug: 'hello-page',
        type: 'page',
        status: 'publish',
        content: '<p>Hi</p>',
      });
    });
    after(async () => {
      await host.stop();
      await folders.remove();
    });

    it('breaks no page, and is named in the log and in the list of plugins', async () => {
      for (const path of [...pages, await host.content.permalink(post)]) {
        const { status } = await host.fetch(path, { headers: { cookie: browser.cookie } });
        expect([path, status]).to.deep.equal([path, 200]);
      }
      const refused = host.logged
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter(({ event }) => event === 'hook_result_refused');
      expect(refused.length).to.be.greaterThan(8);
      expect(refused.every(({ plugin }) => plugin === 'sloppy')).to.equal(true);
      expect(refused.map(({ hook }) => hook)).to.include('map_meta_cap');
      const status = host.plugins.list().find(({ slug }) => slug === 'sloppy');
      expect(status?.lastError?.stage).to.match(/^filter /);
    });
  });
