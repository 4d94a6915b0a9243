import { expect } from 'chai';
import { createSystemClock } from '../../host/clock.ts';
import { describeDialects } from '../helpers/dialects.ts';
import { openPages, type AdminBrowser, type PagesSite } from './pages-site.ts';

describeDialects('the page jobs and its commands', (_open, dialectCase) => {
  let site: PagesSite;
  let browser: AdminBrowser;
  let failing: number;
  let held: number;
  beforeEach(async () => {
    site = await openPages(dialectCase, {}, { clock: createSystemClock() });
    await site.create({ login: 'ada', role: 'administrator' });
    browser = await site.signIn('ada');
    const jobs = site.host.jobs.forOwner('shop');
    let stock = 0;
    jobs.define({
      name: 'pack',
      label: 'Pack an order',
      attempts: 1,
      run: async (order, { progress }) => {
        progress(3, 4, 'Folding');
        if (order === 'large' && (stock += 1) === 1) throw new Error('No box is <large> enough.');
      },
    });
    failing = (await jobs.add('pack', 'large')).id;
    await jobs.add('pack', { order: 7 });
    held = (await jobs.add('ship', 'later', { delay: 7_200_000 })).id;
    await site.host.jobs.drain();
  });
  afterEach(() => site.host.stop());

  it('show jobs by name and state, with what went wrong', async () => {
    const { text, html } = await browser.get('/admin/tools/jobs');
    expect(text).to.contain('Pack an order shop').and.contain('waits for its plugin to be activated');
    expect(text).to.contain('All 3').and.contain('Waiting 1').and.contain('Completed 1').and.contain('Failed 1');
    expect(text).to.contain('{"order":7}').and.contain('3 of 4').and.contain('due in');
    expect(html).to.contain('No box is &lt;large&gt; enough.');
    expect(text).to.match(/Jobs that ended, per hour.*: 1 completed job, 1 failed job.*Show as table/);
    const failed = await browser.get('/admin/tools/jobs?plugin=shop&name=pack&state=failed');
    expect(failed.text)
      .to.contain(`#${String(failing)}`)
      .and.not.contain('{"order":7}');
    expect((await browser.get('/admin/tools/jobs?state=running')).text).to.contain('No such jobs');
  });

  it('run a failed job again, and cancel a waiting one', async () => {
    const again = await browser.submit('/admin/tools/jobs', 'retry', { id: String(failing) });
    expect(again.text).to.contain(`Job ${String(failing)} runs again.`);
    await site.host.jobs.drain();
    expect((await site.host.jobs.list({ id: failing }))[0]).to.include({ state: 'completed', attempts: 1 });
    const cancelled = await browser.submit('/admin/tools/jobs', 'cancel', { id: String(held) });
    expect(cancelled.text).to.contain(`Job ${String(held)} cancelled.`);
    await site.host.jobs.forOwner('shop').add('ship', 'another', { delay: 7_200_000 });
    const refused = await browser.submit('/admin/tools/jobs', 'cancel', { id: String(held) });
    expect(refused.text).to.contain(`Job ${String(held)} neither waits nor runs any more.`);
  });

  it('are open to administrators only', async () => {
    await site.create({ login: 'eve', role: 'editor' });
    expect((await (await site.signIn('eve')).get('/admin/tools/jobs')).status).to.equal(403);
  });

  it('list, retry, run and cancel from the command line', async () => {
    const { host } = site;
    const listed = await host.cli('jobs', 'list', '--state', 'failed', '--json');
    expect(JSON.parse(listed.out)).to.deep.equal([
      {
        id: failing,
        plugin: 'shop',
        name: 'pack',
        key: '',
        state: 'failed',
        attempts: 1,
        due: '',
        progress: '3/4',
        error: 'No box is <large> enough.',
      },
    ]);
    expect((await host.cli('jobs', 'retry', String(failing))).code).to.equal(0);
    expect((await host.cli('jobs', 'run')).code).to.equal(0);
    expect((await host.cli('jobs', 'retry', String(failing))).err).to.contain('neither failed nor cancelled');
    expect((await host.cli('jobs', 'cancel', String(held))).code).to.equal(0);
    expect((await host.cli('jobs', 'cancel', String(held))).err).to.contain('nothing to cancel');
    expect((await host.cli('jobs', 'cancel', 'x')).err).to.contain("'x' is no id of a job");
    expect((await host.cli('jobs', 'list', '--state', 'lost')).err).to.contain("There is no state 'lost'");
  });
});
