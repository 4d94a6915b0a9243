import { expect } from 'chai';
import type { Item } from '../../plugins/svc/modules/automations/queue/item.ts';
import { taskTables } from '../../plugins/svc/modules/automations/tables.ts';
import { describeHosts } from '../helpers/dialects.ts';
import { failureOf } from '../helpers/failure-of.ts';
import { startAutomationsSite, type AutomationsSite } from './automations-site.ts';

/** A promise that is settled from outside. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    opened,
    open: () => {
      open();
    },
  };
}

describeHosts('the queue of automations', ({ location }) => {
  describe('on separate sites', () => {
    const sites: AutomationsSite[] = [];
    let site: AutomationsSite;

    async function start(env: Readonly<Record<string, string>> = {}): Promise<AutomationsSite> {
      const { databaseUrl, dataDir } = location();
      const started = await startAutomationsSite({ database: databaseUrl ?? dataDir, env });
      sites.push(started);
      return started;
    }

    beforeEach(async function () {
      this.timeout(60_000);
      site = await start();
    });
    afterEach(async () => {
      for (const one of sites.splice(0)) await one.stop();
    });

    it('aborts a cancelled attempt and stores nothing of it', async () => {
      const begun = gate();
      let reason: unknown;
      site.work = async ({ signal }) => {
        begun.open();
        await new Promise<void>((resolve) => {
          signal.addEventListener(
            'abort',
            () => {
              resolve();
            },
            { once: true },
          );
        });
        reason = signal.reason;
        return {
          message: 'Too late.',
          commit: async () => {
            await site.host.content.posts.create({ title: 'Must not be' });
          },
        };
      };
      const task = await site.task({ source: { kind: 'list', items: ['one'] } });
      await site.cli('svc', 'task', 'run', String(task.id));
      await begun.opened;
      expect(await site.cli('svc', 'task', 'cancel', String(task.id), '--all')).to.deep.equal({ cancelled: 1 });
      const [item] = await site.until(task, 'cancelled');
      expect(item).to.deep.include({ state: 'cancelled', message: 'Cancelled.' });
      await site.host.stop();
      sites.splice(0);
      expect(reason).to.equal('lost');
      site = await start();
      expect(await site.host.content.posts.count({ status: 'any' })).to.equal(0);
      expect((await site.items(task)).map(({ state }) => state)).to.deep.equal(['cancelled']);
      // It can be set to go again.
      expect(await site.cli('svc', 'task', 'retry', String(task.id), String(item?.id))).to.deep.equal({ retried: 1 });
      expect((await site.until(task, 'completed'))[0]).to.deep.include({
        attempts: 2,
        message: 'The note is written.',
      });
    });

    it('rolls the result back with a failed commit and retries', async () => {
      let commits = 0;
      site.work = async ({ target }) =>
        Promise.resolve({
          message: 'Done.',
          commit: async () => {
            await site.host.content.posts.create({ title: target });
            commits += 1;
            if (commits === 1)
              throw Object.assign(new Error('Not now.'), { code: 'rest_svc_provider_error', status: 502 });
            return { message: 'Done in the end.' };
          },
        });
      const task = await site.task({ source: { kind: 'list', items: ['one'] } });
      await site.cli('svc', 'task', 'run', String(task.id));
      expect((await site.until(task, 'completed', 'failed'))[0]).to.deep.include({
        state: 'completed',
        attempts: 2,
        message: 'Done in the end.',
      });
      expect(await site.host.content.posts.count({ status: 'any' })).to.equal(1);
    });

    it('claims an item with an expired lease and ignores its former holder', async () => {
      const begun = gate();
      const end = gate();
      site.work = async () => {
        begun.open();
        await end.opened;
        return { message: 'By the first.' };
      };
      // With its one place taken, the first node claims nothing else.
      await site.host.options.update('svc_automations', { concurrency: 1 });
      const task = await site.task({ source: { kind: 'list', items: ['one'] } });
      await site.cli('svc', 'task', 'run', String(task.id));
      await begun.opened;
      const other = await start();
      other.work = async () => Promise.resolve({ message: 'By the second.' });
      const held = { name: 'automation-item', state: 'running', token: 1 };
      // Again, because the first node may renew its lease.
      while ((await site.host.database.knex('jobs').where(held).update({ due_at: 1 })) > 0)
        await other.cli('svc', 'task', 'work');
      expect((await other.until(task, 'completed'))[0]).to.deep.include({ message: 'By the second.', attempts: 2 });
      end.open();
      await site.stop();
      sites.shift();
      expect((await other.items(task))[0]).to.deep.include({ message: 'By the second.', attempts: 2 });
    });

    it('fails an item whose process ended at every allowed attempt', async () => {
      const task = await site.task({ source: { kind: 'list', items: ['one'] }, status: 'active', attempts: 2 });
      const { knex } = site.host.database;
      await knex(taskTables.items).insert({
        task_id: task.id,
        run_id: 0,
        identity: 'x',
        target: 'one',
        input: '{}',
        state: 'processing',
        attempts: 2,
        tries_from: 0,
        message: '',
        created_at: 1,
      });
      const args = JSON.stringify({ task: task.id, item: ((await knex(taskTables.items).first('id')) as Item).id });
      const lease = { state: 'running', attempts: 2, token: 2, due_at: 1, created_at: 1, priority: 1 };
      await knex('jobs').insert({ owner: 'svc', name: 'automation-item', job_key: '1', args, ...lease });
      await site.cli('svc', 'task', 'work');
      expect((await site.until(task, 'failed'))[0]).to.deep.include({
        attempts: 2,
        message: 'The process ended 2 times during this job; it will not be retried.',
      });
    });

    it('releases running items on shutdown without counting the attempt', async () => {
      const begun = gate();
      site.work = async ({ signal }) => {
        begun.open();
        await new Promise<void>((_resolve, reject) => {
          signal.addEventListener(
            'abort',
            () => {
              reject(new Error('Stopped.'));
            },
            { once: true },
          );
        });
        return { message: '' };
      };
      const task = await site.task({ source: { kind: 'list', items: ['one'] } });
      await site.cli('svc', 'task', 'run', String(task.id));
      await begun.opened;
      await site.stop();
      sites.splice(0);
      const next = await start();
      expect((await next.until(task, 'completed'))[0]).to.deep.include({ attempts: 1 });
    });

    it('is processed by worker nodes and never by web nodes', async () => {
      await site.stop();
      sites.splice(0);
      const web = await start({ ROLE: 'web' });
      const task = await web.task();
      await web.cli('svc', 'task', 'run', String(task.id));
      expect((await web.items(task)).map(({ state }) => state)).to.deep.equal(['pending', 'pending', 'pending']);
      const worker = await start({ ROLE: 'worker' });
      await worker.until(task, 'completed');
      // Told by the other node, not by cron.
      await web.cli(
        'svc',
        'task',
        'update',
        '--json',
        JSON.stringify({ id: task.id, source: { kind: 'list', items: ['four'] } }),
      );
      await web.cli('svc', 'task', 'run', String(task.id));
      expect(await worker.until(task, 'completed')).to.have.length(4);
    });

    it('waits while a task is paused or its plugin is inactive', async () => {
      const task = await site.task();
      await site.host.database.knex(taskTables.tasks).update({ type: 'nobody_offers_it' });
      await site.host.database.knex(taskTables.items).insert({
        task_id: task.id,
        run_id: 0,
        identity: 'x',
        target: 'one',
        input: '{}',
        state: 'pending',
        attempts: 0,
        tries_from: 0,
        message: '',
        created_at: 1,
      });
      expect(await site.cli('svc', 'task', 'work')).to.deep.equal({ attempts: 0 });
      expect(await site.cli('svc', 'task', 'pause', String(task.id))).to.deep.equal({ id: task.id, status: 'paused' });
      await site.host.database.knex(taskTables.tasks).update({ type: 'test_notes' });
      expect(await site.cli('svc', 'task', 'work')).to.deep.equal({ attempts: 0 });
      expect(String(await failureOf(site.cli('svc', 'task', 'run', String(task.id))))).to.include(
        'Notes is paused. Resume it first.',
      );
      await site.cli('svc', 'task', 'resume', String(task.id));
      await site.until(task, 'completed');
    });

    it('processes tasks in round-robin order, so that a long one does not delay a short one', async () => {
      await site.cli('option', 'set', 'svc_automations', '{"concurrency":1}');
      const order: string[] = [];
      let begin = (): void => undefined;
      const bothQueued = new Promise<void>((resolve) => (begin = resolve));
      site.work = async ({ target }) => {
        order.push(target);
        await bothQueued;
        return { message: '' };
      };
      const long = await site.task({
        name: 'Long',
        source: { kind: 'list', items: Array.from({ length: 20 }, (_, index) => `long ${String(index)}`) },
      });
      const short = await site.task({ name: 'Short', source: { kind: 'list', items: ['short 1', 'short 2'] } });
      await Promise.all([
        site.cli('svc', 'task', 'run', String(long.id)),
        site.cli('svc', 'task', 'run', String(short.id)),
      ]);
      begin();
      await site.until(long, 'completed');
      await site.until(short, 'completed');
      expect(Math.max(order.indexOf('short 1'), order.indexOf('short 2'))).to.be.lessThan(12);
      expect(new Set(order).size).to.equal(22);
      expect(order).to.have.length(22);
    });
  });
});
