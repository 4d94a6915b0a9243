import { expect } from 'chai';
import { JobLostError, type JobsApi, type RunningJob, type StartedJob } from '#plugin-api';
import { describeDialects } from '../helpers/dialects.ts';
import { failureOf } from '../helpers/failure-of.ts';
import { deferred, openJobs } from './site.ts';
import { until } from '../helpers/until.ts';

describeDialects('jobs that are started by a process', (open) => {
  const site = async () => {
    const opened = await openJobs(open);
    const { database } = opened;
    if (!(await database.knex.schema.hasTable('effects')))
      await database.knex.schema.createTable('effects', (table) => table.text('value'));
    const effects = (): Promise<string[]> => database.knex('effects').orderBy('value').pluck('value');
    const write = async (value: string): Promise<void> => {
      await database.knex('effects').insert({ value });
    };
    const stored = (): Promise<unknown[]> => database.knex('jobs').select('*');
    return { ...opened, effects, write, stored };
  };
  const startedBy = async (own: JobsApi, ...args: Parameters<JobsApi['start']>): Promise<StartedJob> => {
    const started = await own.start(...args);
    if (!started.isStarted) throw new Error('Another job has the key.');
    return started;
  };
  /** Ends the leases of the running jobs, as when their process has died. */
  const expire = async ({ database }: Awaited<ReturnType<typeof site>>): Promise<void> => {
    await database.knex('jobs').update({ due_at: 1 });
  };

  it('are run at once, name themselves to others, and leave nothing behind', async () => {
    const { own, effects, write, stored } = await site();
    own.define({ name: 'chat' });
    const started = await startedBy(own, 'chat', { message: 1 }, { key: 'a' });
    const other = await own.start('chat', { message: 2 }, { key: 'a' });
    expect(other).to.deep.include({ isStarted: false });
    expect(other.isStarted ? null : other.job).to.deep.include({
      id: started.id,
      args: { message: 1 },
      state: 'running',
    });
    expect((await own.start('chat', {}, { key: 'b' })).isStarted).to.equal(true);
    const result = await started.run(async ({ commit, id, key }) => {
      await commit(async () => write('done'));
      return { id, key };
    });
    expect(result).to.deep.equal({ id: started.id, key: 'a' });
    expect(await effects()).to.deep.equal(['done']);
    expect(await stored()).to.have.length(1);
    expect((await own.start('chat', {}, { key: 'a' })).isStarted).to.equal(true);
  });

  it('take part in the transaction that starts them', async () => {
    const { own, database, stored } = await site();
    own.define({ name: 'chat' });
    await failureOf(
      database.transaction(async () => {
        await startedBy(own, 'chat', null, { key: 'a' });
        throw new Error('undone');
      }),
    );
    expect(await stored()).to.deep.equal([]);
    const started = await database.transaction(() => startedBy(own, 'chat', null, { key: 'a' }));
    await started.run(async () => undefined);
    expect(await stored()).to.deep.equal([]);
  });

  it('pass their error on, once what follows from it is stored', async () => {
    const { own, effects, write, stored } = await site();
    const seen: unknown[] = [];
    own.define<string>({
      name: 'chat',
      failed: async (args, { error, message }) => {
        seen.push(error);
        await write(`${args}: ${message}`);
      },
    });
    const refusal = new Error('Used up.');
    const started = await startedBy(own, 'chat', 'refund', { key: 'a' });
    expect(await failureOf(started.run(() => Promise.reject(refusal)))).to.equal(refusal);
    expect(seen).to.deep.equal([refusal]);
    expect(await effects()).to.deep.equal(['refund: Used up.']);
    expect(await stored()).to.deep.equal([]);
  });

  it('fail if their process ends, by the next worker or the next start under the key', async () => {
    const first = await site();
    const second = await site();
    const seen: string[] = [];
    for (const { own, write } of [first, second])
      own.define<string>({ name: 'chat', failed: async (args, { message }) => write(`${args} ${message}`) });
    const dead = await startedBy(first.own, 'chat', 'one', { key: 'a' });
    await startedBy(first.own, 'chat', 'two', { key: 'b' });
    expect((await second.own.start('chat', 'three', { key: 'a' })).isStarted).to.equal(false);
    await expire(first);
    const taken = await startedBy(second.own, 'chat', 'three', { key: 'a' });
    const ended = 'The process ended once during this job; it will not be retried.';
    expect(await first.effects()).to.deep.equal([`one ${ended}`]);
    expect(await second.jobs.drain()).to.equal(1);
    expect(await first.effects()).to.deep.equal([`one ${ended}`, `two ${ended}`]);
    // The node was not dead: its work has no effect any more.
    const late = failureOf(dead.run(async ({ commit }) => commit(async () => first.write('late'))));
    expect(await late).to.be.instanceOf(JobLostError);
    await taken.run(async ({ commit }) => commit(async () => void seen.push('committed')));
    expect(seen).to.deep.equal(['committed']);
    expect(await first.effects()).to.have.length(2);
  });

  it('of a kind with a function go on elsewhere', async () => {
    const first = await site();
    const second = await site();
    const ran: unknown[] = [];
    for (const { own } of [first, second])
      own.define({ name: 'video', run: async (args, { attempt }) => void ran.push([args, attempt]) });
    await startedBy(first.own, 'video', 'film', { key: 'a' });
    await expire(first);
    expect(await second.jobs.drain()).to.equal(1);
    expect(ran).to.deep.equal([['film', 2]]);
  });

  it('do not take the place of other jobs of their kind', async () => {
    const { own, jobs } = await site();
    const ran: unknown[] = [];
    own.define({ name: 'video', concurrency: 1, run: async (args) => void ran.push(args) });
    const gate = deferred();
    const working = (await startedBy(own, 'video')).run(() => gate.promise);
    await jobs.start();
    await own.add('video', 'film');
    await until('jobs', () => ran.length === 1);
    gate.resolve();
    await working;
    await jobs.stop();
  });

  it('end early if another node asks, with what they have', async () => {
    const first = await site();
    const second = await site();
    for (const { own } of [first, second]) own.define({ name: 'chat' });
    await first.jobs.start();
    const begun = deferred<RunningJob>();
    const started = await startedBy(first.own, 'chat', null, { key: 'a' });
    const working = started.run(async (job) => {
      begun.resolve(job);
      await new Promise((resolve) => job.stopRequested.addEventListener('abort', resolve));
      await job.commit(async () => first.write('partial'));
      return job.signal.aborted;
    });
    await begun.promise;
    expect(await second.own.requestStop({ name: 'chat', key: 'other' })).to.equal(0);
    expect(await second.own.requestStop({ name: 'chat', key: 'a' })).to.equal(1);
    expect(await working).to.equal(false);
    expect(await first.effects()).to.deep.equal(['partial']);
    await first.jobs.stop();
  });

  it('fail when their process stops or an administrator cancels them', async () => {
    const { own, jobs, effects, write, stored } = await site();
    own.define<string>({ name: 'chat', failed: async (args, { message }) => write(`${args} ${message}`) });
    await jobs.start();
    const hang = (started: StartedJob) => failureOf(started.run(() => new Promise(() => undefined)));
    const cancelled = hang(await startedBy(own, 'chat', 'a', { key: 'a' }));
    expect(await jobs.cancel({ key: 'a' })).to.equal(1);
    expect(await cancelled).to.be.instanceOf(JobLostError);
    const stopped = hang(await startedBy(own, 'chat', 'b', { key: 'b' }));
    await jobs.stop();
    expect(await stopped).to.be.instanceOf(JobLostError);
    expect(await effects()).to.deep.equal(['a It was cancelled.', 'b The process stopped during the job.']);
    expect(await stored()).to.deep.equal([]);
  });
});
