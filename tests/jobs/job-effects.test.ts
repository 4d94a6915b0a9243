import { expect } from 'chai';
import { JobLostError } from '#plugin-api';
import { describeDialects } from '../helpers/dialects.ts';
import { deferred, openJobs } from './site.ts';
import { until } from '../helpers/until.ts';

describeDialects('jobs', (open) => {
  it('are all run by a drain, also those whose slot is freed while it looks at other kinds', async () => {
    const { own, jobs } = await openJobs(open);
    own.define({ name: 'pack', run: async () => undefined });
    const [{ id }] = [await own.add('pack', 1), await own.add('pack', 2)];
    own.define({
      name: 'ship',
      async concurrency() {
        const isRunning = (await own.get(id))?.state === 'running';
        await until('jobs', async () => !isRunning || (await own.get(id))?.state === 'completed');
        await new Promise((resolve) => setTimeout(resolve, 20));
        return 1;
      },
      run: async () => undefined,
    });
    expect(await jobs.drain()).to.equal(2);
  });

  it('continue from their last checkpoint, and write each step once', async () => {
    const { own, jobs, database } = await openJobs(open);
    await database.knex.schema.createTable('packed', (table) => {
      table.integer('box').primary();
    });
    own.define<{ box: number }>({
      name: 'pack',
      backoff: [0],
      attempts: 5,
      run: async (args, { attempt, checkpoint }) => {
        for (let { box } = args; box < 3;) {
          ({ box } = await checkpoint(async (transaction) => {
            await transaction('packed').insert({ box });
            if (box === 1 && attempt === 1) throw new Error('The box is torn.');
            return { box: box + 1 };
          }));
          if (box === 2 && attempt === 2) throw new Error('The tape is used up.');
        }
        return { attempt };
      },
    });
    const { id } = await own.add('pack', { box: 0 });
    await jobs.drain();
    await until(
      'the state of the jobs',
      async () => (await jobs.drain()) === 0 && (await own.get(id))?.state === 'completed',
    );
    expect(await own.get(id)).to.deep.include({ args: { box: 3 }, result: { attempt: 3 } });
    expect(await database.knex('packed').pluck('box')).to.have.members([0, 1, 2]);
  });

  it('write no checkpoint once they are lost', async () => {
    const { own, jobs, database } = await openJobs(open);
    const errors: unknown[] = [];
    own.define<number>({
      name: 'pack',
      async run(_args, { id, checkpoint }) {
        // Another node has claimed it.
        await database.knex('jobs').where({ id }).increment('token', 1);
        await checkpoint(async () => 2).catch((error: unknown) => errors.push(error));
        await own.cancel(id);
        await checkpoint(async () => 3).catch((error: unknown) => errors.push(error));
      },
    });
    const { id } = await own.add('pack', 1);
    await jobs.drain();
    await until('jobs', () => errors.length === 2);
    expect(errors.map((error) => (error as Error).name)).to.deep.equal(['JobLostError', 'JobLostError']);
    expect((await own.get(id))?.args).to.equal(1);
  });

  it('recur by a cron event, one at a time on two nodes, and wait while their plugin is inactive', async () => {
    const nodes = [await openJobs(open), await openJobs(open)] as const;
    const running = { now: 0, most: 0, total: 0 };
    const undos = await Promise.all(
      nodes.map(({ own }) =>
        own.every('daily', {
          name: 'tidy',
          label: 'Tidy up',
          run: async () => {
            running.most = Math.max(running.most, (running.now += 1));
            running.total += 1;
            await new Promise((resolve) => setTimeout(resolve, 20));
            running.now -= 1;
          },
        }),
      ),
    );
    const [first, second] = nodes;
    expect(await first.cron.list()).to.have.length(1);
    await Promise.all(nodes.map(({ cron }) => cron.run('tidy')));
    await Promise.all(nodes.map(({ jobs }) => jobs.drain()));
    expect(running).to.deep.include({ now: 0, most: 1 });
    expect(running.total).to.be.oneOf([1, 2]);
    expect(await second.own.list({ name: 'tidy', state: 'completed' })).to.have.length.within(1, 2);
    for (const undo of undos) undo();
    expect(await first.cron.run('tidy').catch((error: unknown) => error)).to.be.an('error');
    expect(await first.cron.list()).to.have.length(1);
  });

  describe('under a key', () => {
    it('wait once, as they were or replaced', async () => {
      const { own, jobs } = await openJobs(open);
      const seen: unknown[] = [];
      own.define({ name: 'pack', run: async (args) => void seen.push(args) });
      const first = await own.add('pack', 1, { key: 'a' });
      expect(await own.add('pack', 2, { key: 'a' })).to.deep.equal({ id: first.id, isNew: false });
      expect(await own.add('pack', 3, { key: 'b' })).to.have.property('isNew', true);
      await own.add('pack', 4, { key: 'b', whenWaiting: 'replace', priority: 1 });
      await jobs.drain();
      expect(seen).to.deep.equal([4, 1]);
      expect(await own.add('pack', 5, { key: 'a' })).to.have.property('isNew', true);
    });

    it('run again after the current run, with the latest arguments', async () => {
      const { own, jobs } = await openJobs(open);
      const gate = deferred();
      const seen: unknown[] = [];
      let most = 0;
      let running = 0;
      own.define({
        name: 'pack',
        concurrency: 4,
        run: async (args) => {
          most = Math.max(most, (running += 1));
          seen.push(args);
          if (args === 1) await gate.promise;
          running -= 1;
        },
      });
      const { id } = await own.add('pack', 1, { key: 'a' });
      await jobs.start();
      await until('jobs', () => seen.length === 1);
      expect(await own.add('pack', 2, { key: 'a' })).to.deep.equal({ id, isNew: false });
      expect(await own.add('pack', 3, { key: 'a' })).to.deep.equal({ id, isNew: false });
      gate.resolve();
      await until('jobs', async () => (await own.get(id))?.state === 'completed');
      await jobs.stop();
      expect(seen).to.deep.equal([1, 3]);
      expect(most).to.equal(1);
    });

    it('are added once by many at the same time', async () => {
      const { own } = await openJobs(open);
      const added = await Promise.all(Array.from({ length: 20 }, (_, index) => own.add('pack', index, { key: 'a' })));
      expect(added.filter(({ isNew }) => isNew)).to.have.length(1);
      expect(new Set(added.map(({ id }) => id)).size).to.equal(1);
    });
  });

  describe('that fail for good', () => {
    it('write what their kind adds together with that state, once', async () => {
      const { own, jobs, database } = await openJobs(open);
      await database.knex.schema.createTable('effects', (table) => table.text('value'));
      const seen: unknown[] = [];
      let isAway = true;
      own.define<number>({
        name: 'pack',
        attempts: 2,
        backoff: [0],
        run: async () => Promise.reject(new Error('No box.')),
        failed: async (args, { error, ...job }, transaction) => {
          seen.push([args, job, error instanceof Error]);
          await transaction('effects').insert({ value: job.message });
          if (isAway) throw new Error('The store is away.');
        },
      });
      const { id } = await own.add('pack', 7, { key: 'a' });
      await jobs.drain();
      // Neither is stored: the job is tried again when its lease ends.
      expect(await own.get(id)).to.include({ state: 'running', attempts: 2 });
      expect(await database.knex('effects')).to.deep.equal([]);
      isAway = false;
      await database.knex('jobs').where({ id }).update({ due_at: 1 });
      await jobs.drain();
      const lost = 'The process ended 2 times during this job; it will not be retried.';
      expect(seen).to.deep.equal([
        [7, { id, key: 'a', attempts: 2, message: 'No box.', isCancelled: false }, true],
        [7, { id, key: 'a', attempts: 2, message: lost, isCancelled: false }, false],
      ]);
      expect(await database.knex('effects').pluck('value')).to.deep.equal([lost]);
      expect(await own.get(id)).to.include({ state: 'failed', attempts: 2, error: lost });
    });

    it('write when an administrator cancels them, and not when their plugin does', async () => {
      const { own, jobs, database } = await openJobs(open);
      await database.knex.schema.createTable('effects', (table) => table.text('value'));
      own.define<string>({
        name: 'pack',
        run: async () => undefined,
        failed: async (args, { isCancelled, message }, transaction) => {
          await transaction('effects').insert({ value: `${args} ${String(isCancelled)} ${message}` });
        },
      });
      await own.addMany(
        'pack',
        ['a', 'b', 'c'].map((key) => ({ args: key, key })),
      );
      expect(await own.cancel({ name: 'pack', keys: ['c', 'd'] })).to.equal(1);
      expect(await jobs.cancel({ owner: 'orders', state: 'waiting' })).to.equal(2);
      expect(await database.knex('effects').orderBy('value').pluck('value')).to.deep.equal([
        'a true It was cancelled.',
        'b true It was cancelled.',
      ]);
    });

    it('write nothing if they were added again meanwhile', async () => {
      const { own, jobs } = await openJobs(open);
      const failed: unknown[] = [];
      own.define<number>({
        name: 'pack',
        attempts: 1,
        run: async (args) => {
          if (args === 2) return;
          await own.add('pack', 2, { key: 'a' });
          throw new Error('No box.');
        },
        failed: async (...parts) => void failed.push(parts),
      });
      const { id } = await own.add('pack', 1, { key: 'a' });
      await jobs.drain();
      expect(failed).to.deep.equal([]);
      expect(await own.get(id)).to.include({ state: 'completed', args: 2 });
    });
  });

  describe('in a transaction', () => {
    it('exist only after its commit', async () => {
      const { own, jobs, database } = await openJobs(open);
      let runs = 0;
      own.define({ name: 'pack', run: async () => void (runs += 1) });
      await database
        .transaction(async () => {
          await own.add('pack', 1);
          throw new Error('undone');
        })
        .catch(() => undefined);
      expect(await own.list()).to.deep.equal([]);
      await database.transaction(async () => {
        await own.add('pack', 2);
      });
      await jobs.drain();
      expect(runs).to.equal(1);
    });

    it('complete together with their effects, or not at all', async () => {
      const { own, jobs, database } = await openJobs(open);
      await database.knex.schema.createTable('effects', (table) => table.integer('value'));
      const effects = (): Promise<number[]> => database.knex('effects').pluck('value');
      own.define<number>({
        name: 'pack',
        backoff: [0],
        run: async (value, { commit, attempt }) => {
          await commit(async (transaction) => {
            await transaction('effects').insert({ value: value + attempt });
            if (attempt === 1) throw new Error('after the effect');
            return { value };
          });
        },
      });
      const { id } = await own.add('pack', 10);
      await jobs.drain();
      expect(await effects()).to.deep.equal([12]);
      expect(await own.get(id)).to.deep.include({ state: 'completed', attempts: 2, result: { value: 10 } });
    });

    it('are committed again while the database is away, without another attempt', async () => {
      const { own, jobs, database } = await openJobs(open);
      await database.knex.schema.createTable('effects', (table) => table.integer('value'));
      let tries = 0;
      own.define<number>({
        name: 'pack',
        run: async (value, { commit }) => {
          await commit(async (transaction) => {
            await transaction('effects').insert({ value });
            if (++tries < 3) throw Object.assign(new Error('No space left'), { code: 'ENOSPC' });
          });
        },
      });
      const { id } = await own.add('pack', 7);
      await jobs.drain();
      expect(await database.knex('effects').pluck('value')).to.deep.equal([7]);
      expect(await own.get(id)).to.include({ state: 'completed', attempts: 1 });
    });

    it('have no effect once their time is over', async () => {
      const { own, jobs, database } = await openJobs(open);
      await database.knex.schema.createTable('effects', (table) => table.integer('value'));
      const [late, decided] = [deferred(), deferred()];
      const errors: unknown[] = [];
      own.define({
        name: 'pack',
        timeout: 0.05,
        // Asked when the attempt is over: it is still held meanwhile.
        backoff: () => {
          late.resolve();
          return decided.promise.then(() => [0]);
        },
        attempts: 2,
        run: async (_args, { commit, attempt }) => {
          if (attempt > 1) return;
          await late.promise;
          await commit(async (transaction) => void (await transaction('effects').insert({ value: 1 }))).catch(
            (error: unknown) => errors.push(error),
          );
          decided.resolve();
        },
      });
      const { id } = await own.add('pack');
      await jobs.drain();
      await until('the job', async () => (await jobs.drain()) === 0 && (await own.get(id))?.state === 'completed');
      expect(errors[0]).to.be.instanceOf(JobLostError);
      expect(await database.knex('effects').pluck('value')).to.deep.equal([]);
      expect(await own.get(id)).to.include({ attempts: 2 });
    });

    it('have no effect once another attempt holds them', async () => {
      const { own, jobs, database } = await openJobs(open);
      await database.knex.schema.createTable('effects', (table) => table.integer('value'));
      const gate = deferred();
      const errors: unknown[] = [];
      own.define({
        name: 'pack',
        run: async (_args, { commit, attempt }) => {
          if (attempt === 1) await gate.promise;
          await commit(async (transaction) => {
            await transaction('effects').insert({ value: attempt });
          }).catch((error: unknown) => {
            errors.push(error);
            throw error;
          });
        },
      });
      const { id } = await own.add('pack');
      const slow = jobs.drain();
      await until('jobs', async () => (await own.get(id))?.state === 'running');
      // Its lease ends while the attempt hangs.
      await database.knex('jobs').where({ id }).update({ due_at: 1 });
      const other = await openJobs(open);
      other.own.define({
        name: 'pack',
        run: async (_args, { commit, attempt }) => {
          await commit(async (transaction) => {
            await transaction('effects').insert({ value: attempt });
          });
        },
      });
      expect(await other.jobs.drain()).to.equal(1);
      gate.resolve();
      await slow;
      expect(errors).to.have.length(1);
      expect(errors[0]).to.be.instanceOf(JobLostError);
      expect(await database.knex('effects').pluck('value')).to.deep.equal([2]);
      expect(await own.get(id)).to.include({ state: 'completed', attempts: 2 });
    });
  });
});
