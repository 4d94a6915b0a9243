import { expect } from 'chai';
import type { RunningJob } from '#plugin-api';
import { describeDialects } from '../helpers/dialects.ts';
import { deferred, openJobs } from './site.ts';
import { until } from '../helpers/until.ts';

describeDialects('jobs', (open) => {
  it('run once with their arguments, and keep their result', async () => {
    const { own, jobs } = await openJobs(open);
    const seen: unknown[] = [];
    own.define<{ order: number }>({
      name: 'pack',
      run: async (args, { id, attempt, token, key }) => {
        seen.push([args, attempt, token, key]);
        return { packed: args.order, by: id };
      },
    });
    const { id, isNew } = await own.add('pack', { order: 7 });
    expect(isNew).to.equal(true);
    expect(await own.get(id)).to.include({ state: 'waiting', attempts: 0, result: null, finishedAt: null });
    expect(await jobs.drain()).to.equal(1);
    expect(await jobs.drain()).to.equal(0);
    expect(seen).to.deep.equal([[{ order: 7 }, 1, 1, null]]);
    const status = await own.get(id);
    expect(status).to.deep.include({ state: 'completed', attempts: 1, result: { packed: 7, by: id }, error: null });
    expect(status?.finishedAt).to.be.at.least(status?.createdAt ?? Infinity);
  });

  it('run in order of priority, then of age, and not before they are due', async () => {
    const { own, jobs } = await openJobs(open);
    const seen: unknown[] = [];
    own.define({ name: 'pack', run: async (args) => void seen.push(args) });
    for (const name of ['second', 'third']) await own.add('pack', name);
    await own.add('pack', 'first', { priority: 5 });
    await own.add('pack', 'last', { priority: 20 });
    await own.add('pack', 'later', { delay: 3_600_000, priority: 1 });
    await own.add('pack', 'tomorrow', { dueAt: Date.now() + 86_400_000 });
    await jobs.drain();
    expect(seen).to.deep.equal(['first', 'second', 'third', 'last']);
    expect((await own.list({ state: 'waiting' })).map(({ args }) => args)).to.deep.equal(['tomorrow', 'later']);
  });

  it('run at most as many at once as their kind allows, and kinds beside each other', async () => {
    const { own, jobs } = await openJobs(open);
    const gate = deferred();
    const running = { pack: 0, ship: 0 };
    const most = { pack: 0, ship: 0 };
    for (const [name, concurrency] of [
      ['pack', 1],
      ['ship', 3],
    ] as const)
      own.define({
        name,
        concurrency,
        run: async () => {
          most[name] = Math.max(most[name], (running[name] += 1));
          await gate.promise;
          running[name] -= 1;
        },
      });
    for (let count = 0; count < 5; count += 1) await Promise.all([own.add('pack'), own.add('ship')]);
    await jobs.start();
    await until('the jobs', () => running.pack === 1 && running.ship === 3);
    gate.resolve();
    await until('the jobs', async () => (await own.list({ state: 'completed' })).length === 10);
    expect(most).to.deep.equal({ pack: 1, ship: 3 });
    await jobs.stop();
  });

  it('are retried after the back-off and fail for good after their last attempt', async () => {
    const { own, jobs, hooks } = await openJobs(open);
    const attempts: number[] = [];
    const failed: unknown[] = [];
    hooks.addAction('job_failed', (job: unknown, message: unknown) => void failed.push([job, message]));
    own.define({
      name: 'pack',
      attempts: 3,
      backoff: [0],
      run: async (_args, { attempt }) => {
        attempts.push(attempt);
        throw new Error(`No box of size ${String(attempt)}.`);
      },
    });
    const { id } = await own.add('pack', null, { key: 'a' });
    await jobs.drain();
    expect(attempts).to.deep.equal([1, 2, 3]);
    expect(await own.get(id)).to.include({ state: 'failed', attempts: 3, error: 'No box of size 3.' });
    expect(failed).to.deep.equal([[{ id, owner: 'orders', name: 'pack', key: 'a' }, 'No box of size 3.']]);
    expect(await own.retry(id)).to.equal(true);
    expect(await own.retry(id)).to.equal(false);
    await jobs.drain();
    expect(attempts).to.have.length(6);
  });

  it('ask their kind for attempts and back-off, and tell it when they wait again', async () => {
    const { own, jobs, database } = await openJobs(open, { shutdownTimeout: 1 });
    const postponed: unknown[] = [];
    const begun = deferred();
    own.define<{ tries: number }>({
      name: 'pack',
      concurrency: 2,
      attempts: ({ tries }) => tries,
      backoff: async ({ tries }) => (tries === 2 ? [0] : [3_600]),
      run: async ({ tries }, { signal }) => {
        if (tries < 100) throw new Error('No box.');
        begun.resolve();
        await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));
      },
      postponed: async ({ tries }, { attempts, message, wait }, transaction) => {
        await transaction('jobs').where({ state: 'waiting' }).first('id');
        postponed.push([tries, attempts, message, wait > 1_800_000]);
      },
    });
    const ids = [];
    for (const tries of [1, 2, 50, 100]) ids.push((await own.add('pack', { tries })).id);
    await jobs.start();
    await begun.promise;
    await until('four jobs', async () => (await own.list({ state: 'failed' })).length + postponed.length === 4);
    await jobs.stop();
    const statuses = await Promise.all(ids.map((id) => own.get(id)));
    expect(statuses.map((status) => [status?.state, status?.attempts, status?.error])).to.deep.equal([
      ['failed', 1, 'No box.'],
      ['failed', 2, 'No box.'],
      ['waiting', 1, 'Attempt 1 of 50 failed: No box.'],
      ['waiting', 0, null],
    ]);
    // Two of them run at the same time.
    expect(postponed).to.have.deep.members([
      [2, 1, 'No box.', false],
      [50, 1, 'No box.', true],
      [100, 0, null, false],
    ]);
    expect(await database.knex('jobs').where({ state: 'running' })).to.deep.equal([]);
  });

  it('are added in great numbers, once per key', async () => {
    const { own, jobs } = await openJobs(open);
    const seen: unknown[] = [];
    const gate = deferred();
    own.define({
      name: 'pack',
      concurrency: 2,
      run: async (args) => {
        seen.push(args);
        if (args === 'running') await gate.promise;
      },
    });
    // One for each slot, so that no other job ends meanwhile and frees its key.
    for (const key of ['0', 'another']) await own.add('pack', 'running', { key });
    const drained = jobs.drain();
    await until('the jobs', () => seen.length === 2);
    await own.add('pack', 'waiting', { key: '1', delay: 3_600_000 });
    const many = Array.from({ length: 1_200 }, (_, index) => ({ args: `job ${String(index)}`, key: String(index) }));
    expect(await own.addMany('pack', many)).to.equal(1_198);
    expect(await own.addMany('pack', many.slice(2, 4))).to.equal(0);
    expect(await own.addMany('pack', [{ args: 'replaced', key: '1', whenWaiting: 'replace' }])).to.equal(0);
    expect(await own.addMany('pack', [])).to.equal(0);
    gate.resolve();
    await drained;
    expect(seen).to.have.length(1_202);
    expect(seen.filter((args) => args === 'replaced' || args === 'job 0')).to.have.length(2);
    expect(seen).not.to.include('waiting');
  });

  it('of one name are run by a process that runs no others', async () => {
    const { own, jobs } = await openJobs(open);
    const seen: unknown[] = [];
    for (const name of ['pack', 'ship']) own.define({ name, concurrency: 3, run: async () => void seen.push(name) });
    for (const name of ['ship', 'pack', 'pack']) await own.add(name);
    expect(await own.drain('pack')).to.equal(2);
    expect(seen).to.deep.equal(['pack', 'pack']);
    expect(await own.drain()).to.equal(1);
    expect(await jobs.drain()).to.equal(0);
  });

  it('wait between attempts as long as the back-off or the error says', async () => {
    const { own, jobs } = await openJobs(open);
    const errors = [new Error('first'), Object.assign(new Error('busy'), { headers: { 'Retry-After': '7200' } })];
    own.define({
      name: 'pack',
      backoff: [1000],
      run: async (_args, { attempt }) => Promise.reject(errors[attempt - 1] as Error),
    });
    const { id } = await own.add('pack');
    const before = Date.now();
    await jobs.drain();
    const first = await own.get(id);
    expect(first).to.include({ state: 'waiting', error: 'Attempt 1 of 3 failed: first' });
    expect((first?.dueAt ?? 0) - before).to.be.within(499_000, 1_060_000);
  });

  it('are not retried after a refusal', async () => {
    const { own, jobs } = await openJobs(open);
    const errors = [
      Object.assign(new Error('Refused'), { status: 422 }),
      Object.assign(new Error('Broken'), { retryable: false }),
      Object.assign(new Error('Too many'), { status: 429, headers: { 'retry-after': '60' } }),
    ];
    own.define<number>({ name: 'pack', run: async (index) => Promise.reject(errors[index] as Error) });
    const ids = [];
    for (const index of errors.keys()) ids.push((await own.add('pack', index)).id);
    const before = Date.now();
    await jobs.drain();
    const statuses = await Promise.all(ids.map((id) => own.get(id)));
    expect(statuses.map((status) => status?.state)).to.deep.equal(['failed', 'failed', 'waiting']);
    expect((statuses[2]?.dueAt ?? 0) - before).to.be.within(59_000, 120_000);
  });

  it('refuse arguments that do not match the schema, and fill in its defaults', async () => {
    const { own } = await openJobs(open);
    own.define({
      name: 'pack',
      schema: {
        type: 'object',
        properties: { order: { type: 'integer', required: true }, gift: { type: 'boolean', default: false } },
      },
      run: async () => undefined,
    });
    const error = await own.add('pack', { order: 'many' }).catch((thrown: unknown) => thrown);
    expect(error).to.include({ code: 'rest_invalid_param', status: 400 });
    const { id } = await own.add('pack', { order: '7' });
    expect((await own.get(id))?.args).to.deep.include({ order: 7 });
    expect(await own.list()).to.have.length(1);
  });

  it('end at their limit, and give their slot to others', async () => {
    const { own, jobs } = await openJobs(open);
    const seen: unknown[] = [];
    own.define({
      name: 'pack',
      attempts: 1,
      timeout: 0.2,
      run: async (args, { signal }) => {
        seen.push(args);
        // Ends by no signal.
        if (args === 'hang') await new Promise(() => undefined);
        expect(signal.aborted).to.equal(false);
      },
    });
    const { id } = await own.add('pack', 'hang');
    await own.add('pack', 'next');
    await jobs.drain();
    expect(seen).to.deep.equal(['hang', 'next']);
    expect(await own.get(id)).to.include({
      state: 'failed',
      error: 'The attempt took longer than its limit of 0.2 seconds.',
    });
  });

  it('are cancelled while they wait and while they run, on any node', async () => {
    const { own, jobs } = await openJobs(open);
    const running = deferred<RunningJob>();
    own.define({
      name: 'pack',
      run: (_args, job) => {
        running.resolve(job);
        return new Promise(() => undefined);
      },
    });
    const { id } = await own.add('pack', 1);
    const { id: waiting } = await own.add('pack', 2);
    await jobs.start();
    const job = await running.promise;
    const other = await openJobs(open);
    expect(await other.own.cancel(waiting)).to.equal(1);
    expect(await other.own.cancel(id)).to.equal(1);
    expect(await other.own.cancel(id)).to.equal(0);
    await until('the jobs', () => job.signal.aborted);
    await jobs.stop();
    expect((await own.list()).map(({ state }) => state)).to.deep.equal(['cancelled', 'cancelled']);
    expect(await own.retry(id)).to.equal(true);
    expect(await own.get(id)).to.include({ state: 'waiting', attempts: 0 });
  });

  it('return to the queue, uncounted, when the node stops', async () => {
    const { own, jobs } = await openJobs(open);
    const begun = deferred();
    own.define({
      name: 'pack',
      run: async (_args, { signal }) => {
        begun.resolve();
        await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));
      },
    });
    const { id } = await own.add('pack');
    await jobs.start();
    await begun.promise;
    await jobs.stop();
    expect(await own.get(id)).to.include({ state: 'waiting', attempts: 0, error: null });
  });

  it('fail when they end their process again and again', async () => {
    const { own, jobs, database } = await openJobs(open);
    let runs = 0;
    own.define({ name: 'pack', attempts: 2, run: async () => void (runs += 1) });
    const { id } = await own.add('pack');
    // As two processes leave it that were killed during the job.
    await database.knex('jobs').where({ id }).update({ state: 'running', attempts: 2, token: 2, due_at: 1 });
    await jobs.drain();
    expect(runs).to.equal(0);
    expect(await own.get(id)).to.include({
      state: 'failed',
      attempts: 2,
      error: 'The process ended 2 times during this job; it will not be retried.',
    });
  });

  it('are kept while their kind is not defined, and run once it is', async () => {
    const { own, jobs } = await openJobs(open);
    const { id } = await own.add('pack', 1);
    expect(await jobs.drain()).to.equal(0);
    const undo = own.define({ name: 'pack', run: async () => 'first' });
    undo();
    expect(await jobs.drain()).to.equal(0);
    own.define({ name: 'pack', run: async () => 'second' });
    await jobs.drain();
    expect(await own.get(id)).to.include({ state: 'completed', result: 'second' });
  });

  it('of one plugin are out of reach for another', async () => {
    const { own, jobs } = await openJobs(open);
    const { id } = await own.add('pack', 1);
    const others = jobs.forOwner('stock');
    expect(await others.get(id)).to.equal(null);
    expect(await others.cancel(id)).to.equal(0);
    expect(await others.retry(id)).to.equal(false);
    expect(await others.list()).to.deep.equal([]);
    expect(await jobs.removeOwner('orders')).to.equal(1);
  });

  it('are counted, and deleted when they were kept long enough', async () => {
    const { own, jobs, hooks, database } = await openJobs(open);
    own.define<number>({
      name: 'pack',
      keep: 0,
      attempts: 1,
      run: async (index) => (index === 1 ? Promise.reject(new Error('No box.')) : undefined),
    });
    for (const index of [0, 1, 2]) await own.add('pack', index);
    await jobs.drain();
    await own.add('pack', 3);
    expect(await jobs.counts()).to.deep.equal([
      { owner: 'orders', name: 'pack', state: 'completed', count: 2 },
      { owner: 'orders', name: 'pack', state: 'failed', count: 1 },
      { owner: 'orders', name: 'pack', state: 'waiting', count: 1 },
    ]);
    expect(await jobs.finishedByHour(0)).to.have.length(2);
    await hooks.doActionAsync('jobs_sweep');
    expect((await own.list()).map(({ state }) => state)).to.deep.equal(['waiting', 'failed']);
    await database.knex('jobs').where({ state: 'failed' }).update({ keep_until: 1 });
    await hooks.doActionAsync('jobs_sweep');
    expect(await own.list()).to.have.length(1);
    const attempts = (await jobs.metrics()).find(({ name }) => name === 'job_attempts_total');
    expect(attempts?.samples).to.deep.include({
      labels: { owner: 'orders', job: 'pack', outcome: 'failed' },
      value: 1,
    });
  });

  it('are refused with the problem', async () => {
    const { own } = await openJobs(open);
    const refusal = (work: () => unknown): string => {
      try {
        work();
        return 'none';
      } catch (error) {
        return (error as Error).message;
      }
    };
    const run = async (): Promise<void> => undefined;
    own.define({ name: 'pack', run });
    expect(refusal(() => own.define({ name: 'pack', run }))).to.contain('already defined');
    expect(refusal(() => own.define({ name: 'Pack it', run }))).to.contain("The job name 'Pack it' is invalid");
    expect(refusal(() => own.define({ name: 'a', attempts: 0, run }))).to.contain('an integer from 1 to 100');
    expect(refusal(() => own.define({ name: 'a', timeout: 0, run }))).to.contain('a number from 0.001 to 86400');
    expect(refusal(() => own.define({ name: 'a', backoff: [], run }))).to.contain('backoff');
    for (const init of [{ key: '' }, { priority: 1.5 }, { delay: -1 }, { dueAt: Number.NaN }])
      expect(await own.add('pack', 1, init).catch((error: unknown) => error)).to.include({ code: 'rest_job_invalid' });
    expect(await own.add('pack', 'x'.repeat(300_000)).catch((error: unknown) => error)).to.be.instanceOf(RangeError);
    expect(await own.list()).to.deep.equal([]);
  });
});
