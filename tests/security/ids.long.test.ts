import { expect } from 'chai';
import { describeDialects } from '../helpers/dialects.ts';
import { openPages } from '../pages/pages-site.ts';

/** Beyond 32 bits, beyond what is exact in JavaScript, and no ids at all. */
const values = ['99999999999', '9007199254740993', '-1', 'x'];
const names = [
  'id form bot base post page paged parent image media again batch task item user endpoint delivery conversation',
  'source question before after offset per_page revision comment template key budget job',
].flatMap((line) => line.split(' '));
/** Pages that only rows of lists lead to. */
const pages = [
  'ai-forms/edit ai-forms/submission ai-forms/submissions bots/edit bots/form bots/forms bots/rule bots/rules',
  'content/batch content/runs content/template content/templates conversation deliveries/check deliveries/delivery',
  'deliveries/inbox images/image knowledge/base knowledge/questions personal-data tasks/edit tasks/item tasks/task',
].flatMap((line) => line.split(' ').map((slug) => `/admin/svc/${slug}`));

describeDialects('pages of the admin', (_open, dialectCase) => {
  it('answer ids that cannot exist without failing', async function () {
    this.timeout(150_000);
    const site = await openPages(dialectCase, {}, { plugins: 'found' });
    try {
      await site.create({ login: 'root', role: 'administrator' });
      const browser = await site.signIn('root');
      const read = new Set<string>([
        '/admin',
        ...pages,
        '/admin/media/edit',
        '/admin/users/edit',
        '/admin/users/delete',
      ]);
      const failed: string[] = [];
      const get = async (path: string): Promise<string> => {
        const { status, html } = await browser.get(path);
        if (status >= 500) failed.push(`${path} ${String(status)}`);
        return html;
      };
      for (const path of read)
        for (const [, next = ''] of (await get(path)).matchAll(/href="(\/admin\/[\w/-]*)[?"]/g))
          if (!/log(in|out)/.test(next)) read.add(next);
      expect(read.size, 'pages read').to.be.above(75);
      for (const path of read)
        for (const value of values) {
          await get(`${path}?${names.map((name) => `${name}=${value}`).join('&')}`);
          for (const name of value === values[0] ? names : []) await get(`${path}?${name}=${value}`);
        }
      expect(failed).to.deep.equal([]);
    } finally {
      await site.host.stop();
    }
  });
});
