import { expect } from 'chai';
import { makeForm } from '../contract/ai-forms-site.ts';
import { describeHosts } from '../helpers/dialects.ts';
import { createMigratedHost } from '../helpers/migrated.ts';
import { leastProcessorTime } from '../helpers/processor-time.ts';

/** Characters that the content of a post may have. */
const longest = 1_048_576;
/** Milliseconds of processor time of a view and a health check. Once they took 2 to 29 seconds. */
const most = 1_500;

describeHosts('a post that its author made to be slow', ({ location }) => {
  it('takes time in proportion to its text, for each visitor and over REST', async function () {
    this.timeout(120_000);
    const { databaseUrl, dataDir } = location();
    const host = await createMigratedHost({ plugins: ['svc'], database: databaseUrl ?? dataDir });
    try {
      const form = await makeForm({ host } as never);
      for (const content of [
        '<table "'.repeat(20_000),
        '<style '.repeat(11_000),
        '<img/0'.repeat(13_000),
        '<script '.repeat(20_000),
        `[svc_form id=${String(form.id)}]`.repeat(5_882),
        '[svc_form id=999]'.repeat(5_882),
      ]) {
        const { id } = await host.content.posts.create({ title: 'Slow', content, status: 'publish' });
        for (const path of [`/?p=${String(id)}`, `/wp-json/wp/v2/posts/${String(id)}`]) {
          const spent = await leastProcessorTime(async () => {
            const [health, view] = await Promise.all([host.fetch('/healthz'), host.fetch(path)]);
            expect([health.status, view.status], path).to.deep.equal([200, 200]);
            await view.text();
          });
          expect(spent, `${content.slice(0, 20)} at ${path}`).to.be.below(most);
        }
      }
    } finally {
      await host.stop();
    }
  });

  it('takes little work and answers of bounded size wherever a visitor meets it, beside others of its kind', async function () {
    this.timeout(120_000);
    const { databaseUrl, dataDir } = location();
    const host = await createMigratedHost({ plugins: ['svc'], database: databaseUrl ?? dataDir });
    try {
      const form = await makeForm({ host } as never);
      const fill = (part: string): string => part.repeat(Math.floor(longest / part.length));
      const posts = [
        ...[
          '<',
          '&lt;',
          '"',
          'a\n',
          '\n \n a',
          '<!--',
          '<table>',
          '<img src=x>',
          '<a href="',
          '&#',
          '[',
          '[](',
          '<!-- wp:p -->',
        ],
        ...[
          '[svc_chatbot a="',
          '[[svc_chatbot]',
          '[svc_form]',
          '[svc_form][/svc_form ',
          `[svc_form id=${String(form.id)}]`,
        ],
      ].map(fill);
      for (const content of posts) await host.content.posts.create({ title: 'Slow', content, status: 'publish' });
      const paths = ['/', '/feed/', '/?s=slow', ...posts.map((_content, index) => `/?p=${String(index + 1)}`)];
      for (const path of [...paths, '/wp-json/wp/v2/posts', '/wp-json/wp/v2/posts?per_page=1&page=3']) {
        let size = 0;
        const spent = await leastProcessorTime(async () => {
          const response = await host.fetch(path);
          expect(response.status, path).to.equal(200);
          size = (await response.text()).length;
        }, 2);
        const isList = path.includes('/posts');
        expect(spent, `${path} ${posts[Number(path.slice(4)) - 1]?.slice(0, 20) ?? ''}`).to.be.below(
          isList ? 4_000 : most,
        );
        expect(size, path).to.be.below((isList ? 20 : 5) * longest);
      }
      const { status, headers } = await host.fetch('/wp-json/wp/v2/posts?per_page=100');
      expect([status, headers.get('x-wp-total')]).to.deep.equal([400, null]);
    } finally {
      await host.stop();
    }
  });
});
