import { expect } from 'chai';
import { makeForm } from '../contract/ai-forms-site.ts';
import { describeHosts } from '../helpers/dialects.ts';
import { createMigratedHost } from '../helpers/migrated.ts';
import { leastProcessorTime } from '../helpers/processor-time.ts';

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
});
