import { expect } from 'chai';
import { describeHosts } from '../helpers/dialects.ts';
import { becomes } from '../helpers/until.ts';
import { startAutomationsSite, type AutomationsSite } from './automations-site.ts';

describeHosts('automations', ({ location }) => {
  // Inside, so that the site has stopped when its database is removed.
  describe('on a separate site', () => {
    let site: AutomationsSite;

    beforeEach(async function () {
      this.timeout(60_000);
      const { databaseUrl, dataDir } = location();
      site = await startAutomationsSite({ database: databaseUrl ?? dataDir });
    });
    afterEach(() => site.stop());

    it('queue new list entries once and process them in the background', async () => {
      const task = await site.task();
      expect(await site.cli('svc', 'task', 'run', String(task.id))).to.deep.equal({
        found: 3,
        added: 3,
        message: '3 new items queued.',
      });
      const items = await site.until(task, 'completed');
      expect(
        items.map(({ target, attempts, message, provider }) => [target, attempts, message, provider]),
      ).to.deep.equal(['three', 'two', 'one'].map((target) => [target, 1, 'The note is written.', 'OpenAI']));
      const posts = await site.host.content.posts.find({ status: 'draft', orderBy: 'id', order: 'asc' });
      expect(posts.map(({ id }) => id).sort()).to.deep.equal(items.map(({ post }) => post).sort());
      expect(posts.map(({ content }) => content).sort()).to.deep.equal([
        'A note about one',
        'A note about three',
        'A note about two',
      ]);
      expect(await site.cli('svc', 'task', 'run', String(task.id))).to.deep.equal({
        found: 3,
        added: 0,
        message: 'The source has no new entries.',
      });
    });

    it('run cron expressions by the clock of the site, whose time zone may change (D44)', async () => {
      const { options, cron } = site.host;
      const events = async (): Promise<(string | null)[]> =>
        (await cron.list()).filter(({ hook }) => hook === 'svc_automations_run').map(({ schedule }) => schedule);
      const hours = async (): Promise<number[]> =>
        (await cron.list())
          .filter(({ hook, schedule }) => hook === 'svc_automations_run' && schedule?.includes('12 *'))
          .map(({ nextRun }) => new Date(nextRun).getUTCHours());
      await site.task({ schedule: '0 12 * * *' });
      await site.task({ schedule: 'daily' });
      const paused = await site.task({ schedule: '0 12 * * 1', status: 'paused' });
      expect(await events()).to.have.members(['0 12 * * *', 'daily']);
      expect(await hours()).to.deep.equal([12]);
      await options.update('timezone_string', 'Asia/Tokyo');
      expect(await events()).to.have.members(['CRON_TZ=Asia/Tokyo 0 12 * * *', 'daily']);
      expect(await hours()).to.deep.equal([3]);
      await site.cli('svc', 'task', 'resume', String(paused.id));
      expect(await events()).to.include('CRON_TZ=Asia/Tokyo 0 12 * * 1');
      const error: unknown = await site.task({ schedule: '0 12 * *' }).catch((thrown: unknown) => thrown);
      expect(String(error)).to.contain('schedule');
      await options.delete('timezone_string');
      expect(await events()).to.have.members(['0 12 * * *', '0 12 * * 1', 'daily']);
    });

    it('extract data from posts: with the item, its event and the fields of the post', async () => {
      const events: { readonly result: unknown }[] = [];
      site.host.hooks.addAction('svc_event_task_item_completed', (data: { readonly result: unknown }) =>
        events.push(data),
      );
      const { posts, meta } = site.host.content;
      const post = await posts.create({ title: 'Salt', content: '<p>White and <b>cheap</b>.</p>', status: 'publish' });
      const task = await site.task({
        type: 'data_extraction',
        source: { kind: 'posts' },
        settings: {
          provider: 'openai',
          prompt: '{title}: {text}',
          fields: ['Taste', 'Price | number', 'Words | list'],
        },
      });
      await site.cli('svc', 'task', 'run', String(task.id));
      const [item] = await site.until(task, 'completed', 'failed');
      const said = 'Salt: White and cheap .';
      expect(item).to.deep.include({
        state: 'completed',
        message: `Taste: ${said} · Price: 7 · Words: ${said}`,
        post: post.id,
      });
      const data = { taste: said, price: 7, words: [said] };
      // The event follows the state that the test waited for.
      await becomes(
        () => events.map(({ result }) => result),
        [{ message: item?.message, generated_post_id: post.id, data }],
      );
      expect(await meta.all(post.id)).to.deep.include({ taste: [said], price: [7] });
      expect(await site.cli('svc', 'task', 'run', String(task.id))).to.include({ added: 0 });
    });

    it('give their page a stamp that is no newer than what it shows, so that the page follows each change', async () => {
      const { host } = site;
      const task = await site.task();
      await site.cli('svc', 'task', 'run', String(task.id));
      await site.until(task, 'completed');
      const { open } = await host.signIn();
      const shown = async (): Promise<{ readonly stamp: string; readonly failed: number }> => {
        const { text } = await open(`svc/tasks/task?id=${String(task.id)}`);
        const [, stamp = ''] = /data-stamp="([^"]+)"/.exec(text) ?? [];
        return { stamp, failed: text.match(/This one failed meanwhile/g)?.length ?? 0 };
      };
      const set = (state: string, message: string) =>
        host.database.knex('svc_task_items').where({ task_id: task.id }).update({ state, message });
      let answers = 0;
      let change: Promise<unknown> | undefined;
      let at = 0;
      host.database.knex.on('query-response', () => {
        if (++answers === at) change = set('failed', 'This one failed meanwhile.').then();
      });
      const after: string[] = [];
      for (at = 1; ; at += 1) {
        await set('completed', '');
        [answers, change] = [0, undefined];
        const seen = await shown();
        await (change as Promise<unknown> | undefined);
        if (change === undefined) break;
        const now = await shown();
        expect(now.failed, `after ${String(at)} answers of the database`).to.equal(3);
        if (seen.failed < 3) after.push(seen.stamp === now.stamp ? `missed after ${String(at)}` : 'followed');
      }
      expect(after)
        .to.include('followed')
        .and.satisfy((all: string[]) => all.every((one) => one === 'followed'));
    });

    it('refuse a task that extracts nothing, or fields without a type', async () => {
      const make = (fields: readonly string[]) =>
        site.task({ type: 'data_extraction', settings: { fields } }).catch(({ message }: Error) => message);
      expect(await make([])).to.contain('at least one field');
      expect(await make(['Price | euros'])).to.contain('must have the type text, number');
    });

    it('retry retryable errors and fail other items with their reason', async () => {
      const tries = new Map<string, number>();
      site.work = async ({ target, attempt }) => {
        tries.set(target, attempt);
        if (target === 'one') throw new Error('This cannot be written.');
        if (target === 'two' && attempt < 3)
          throw Object.assign(new Error('Too many requests.'), {
            code: 'rest_svc_provider_rate_limited',
            status: 429,
            headers: { 'Retry-After': '0' },
          });
        if (target === 'three') throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
        return Promise.resolve({ message: 'Done.' });
      };
      const task = await site.task();
      await site.cli('svc', 'task', 'run', String(task.id));
      const items = await site.until(task, 'completed', 'failed');
      expect(items.map(({ target, state, attempts, message }) => [target, state, attempts, message])).to.deep.equal([
        ['three', 'failed', 3, 'connect ECONNREFUSED'],
        ['two', 'completed', 3, 'Done.'],
        ['one', 'failed', 1, 'This cannot be written.'],
      ]);
      expect(Object.fromEntries(tries)).to.deep.equal({ one: 1, two: 3, three: 3 });
    });
  });
});
