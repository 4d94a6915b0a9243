import { expect } from 'chai';
import type { RunningJob } from '#plugin-api';
import { describeDialects } from '../helpers/dialects.ts';
import { until } from '../helpers/until.ts';
import { deferred, openJobs } from './site.ts';

describeDialects('running jobs', (open) => {
  it('show their progress', async () => {
    const { own, jobs } = await openJobs(open);
    const gate = deferred();
    own.define({
      name: 'pack',
      run: async (_args, { progress }) => {
        progress(1, 3, 'Folding');
        progress(2, 3, 'Taping');
        await gate.promise;
        progress(3, 3);
      },
    });
    const { id } = await own.add('pack');
    const drained = jobs.drain();
    await until('the jobs', async () => (await own.get(id))?.progress !== null);
    expect((await own.get(id))?.progress).to.deep.equal({ done: 2, total: 3, message: 'Taping' });
    gate.resolve();
    await drained;
    expect((await own.get(id))?.progress).to.deep.equal({ done: 3, total: 3, message: '' });
  });

  it('keep their last progress, however they end', async () => {
    const { own, jobs } = await openJobs(open);
    const ends: Readonly<Record<string, (job: RunningJob) => Promise<unknown>>> = {
      completed: async ({ commit }) => commit(async () => undefined),
      failed: async () => {
        throw new Error('Out of boxes');
      },
    };
    for (const [state, end] of Object.entries(ends)) {
      own.define({
        name: state,
        attempts: 1,
        run: async (_args, job) => {
          job.progress(1, 4);
          job.progress(4, 4, 'Packed');
          await end(job);
        },
      });
      const { id } = await own.add(state);
      await jobs.drain();
      expect(await own.get(id)).to.deep.include({ state, progress: { done: 4, total: 4, message: 'Packed' } });
    }
  });
});
