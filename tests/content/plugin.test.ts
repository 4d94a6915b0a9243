import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { createTestHost } from '#testing';
import { describeDialects } from '../helpers/dialects.ts';

const plugin = `export default {
  register(host) {
    const { content, hooks } = host;
    content.registerPostType('book', { label: 'Books', singularLabel: 'Book', public: true, showInRest: true, restBase: 'books', capabilityType: 'post' });
    content.registerPostStatus('lent', { label: 'Lent', public: true });
    content.registerMeta('book', 'pages', { schema: { type: 'integer' }, showInRest: true });
    content.addShortcode('books', async () => String(await content.posts.count({ type: 'book', status: ['publish', 'lent'] })));
    hooks.addAction('save_post_book', async (id, post, update) => {
      if (!update) await content.meta.update(id, 'pages', post.content.length);
    });
  },
  async activate(host) {
    await host.content.posts.create({ type: 'book', title: 'Moby', content: 'Call me Ishmael.', status: 'lent' });
  },
};`;

describeDialects('content for plugins', (_open, { location, directory }) => {
  it('is theirs while they are active: types, statuses, meta, shortcodes, hooks', async () => {
    const folder = join(directory(), 'plugins', 'library');
    await mkdir(folder, { recursive: true });
    await writeFile(
      join(folder, 'plugin.json'),
      JSON.stringify({
        slug: 'library',
        name: 'Library',
        version: '1.0.0',
        description: '',
        main: 'index.js',
        host: '^1',
      }),
    );
    await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
    await writeFile(join(folder, 'index.js'), plugin);
    const { databaseUrl, dataDir } = location();
    const host = await createTestHost({
      database: databaseUrl ?? dataDir,
      pluginDirs: [join(directory(), 'plugins')],
      plugins: ['library'],
    });
    try {
      await host.plugins.deactivate('library');
      await host.plugins.activate('library');
      const post = await host.content.posts.create({ title: 'List', content: '[books] lent', status: 'publish' });
      const books = (await (await host.fetch('/wp-json/wp/v2/books?status=lent,publish')).json()) as { code?: string };
      expect(books.code).to.equal('rest_invalid_param');
      const [book] = await host.content.posts.find({ type: 'book', status: 'lent' });
      const shown = (await (await host.fetch(`/wp-json/wp/v2/books/${book?.id}`)).json()) as {
        meta: unknown;
        status: string;
      };
      expect([shown.status, shown.meta]).to.deep.equal(['lent', { pages: 16 }]);
      expect((await host.content.render(post)).content).to.match(/^<p>\d lent<\/p>$/m);
      expect((await host.fetch('/book/moby/')).status).to.equal(200);
      await host.plugins.deactivate('library');
      expect((await host.fetch('/wp-json/wp/v2/books')).status).to.equal(404);
      expect((await host.fetch('/book/moby/')).status).to.equal(404);
      expect((await host.content.render(post)).content).to.equal('<p>[books] lent</p>\n');
      expect(host.content.postStatuses().some(({ name }) => name === 'lent')).to.equal(false);
      expect((await host.content.posts.get(book?.id ?? 0))?.title).to.equal('Moby');
    } finally {
      await host.stop();
    }
  });
});
