import { expect } from 'chai';
import { createClockJumps } from '../../host/clock.ts';
import { describeDialects } from '../helpers/dialects.ts';
import { until } from '../helpers/until.ts';
import { deferred, openJobs } from './site.ts';

const days = 86_400_000;

describe('a clock that may jump', () => {
  it('is compared with one that never does; small corrections are none', () => {
    const times = { wall: 1_000_000, elapsed: 0 };
    const read = createClockJumps({ wall: () => times.wall, elapsed: () => times.elapsed });
    const after = (elapsed: number, wall: number): number => {
      times.elapsed += elapsed;
      times.wall += wall;
      return read();
    };
    expect(after(30_000, 30_000)).to.equal(0);
    expect(after(30_000, 31_500)).to.equal(0);
    expect(after(1_000, 1_000 - 3 * days)).to.equal(-3 * days);
    expect(after(1_000, 1_000)).to.equal(0);
    expect(after(1_000, 1_000 + days)).to.equal(days);
  });
});

describeDialects('jobs of a clock that jumps', (open, { dialect }) => {
  const site = async (jump = 0) => {
    let left = jump;
    const opened = await openJobs(open, {
      readJump: () => {
        const read = left;
        left = 0;
        return read;
      },
    });
    const { knex, now } = opened.database;
    /** Milliseconds until the job is due. */
    const waitOf = async (id: number): Promise<number> => {
      const row = (await knex('jobs')
        .where({ id })
        .first(knex.raw('due_at - ? as wait', [now()]))) as { wait: unknown };
      return Number(row.wait);
    };
    return { ...opened, waitOf };
  };

  it('wait no longer than they were to after it was set back, and leases are no longer than one is', async () => {
    const { own, jobs, database, waitOf } = await site(-3 * days);
    const { knex } = database;
    own.define({ name: 'pack', run: async () => undefined });
    const waiting = await own.add('pack', 1, { delay: 600_000 });
    const later = await own.add('pack', 2, { delay: 10 * days });
    const held = await own.add('pack', 3);
    await knex('jobs')
      .where({ id: held.id })
      .update({ state: 'running', started_at: knex.ref('created_at') });
    const ago = { created_at: knex.raw('created_at - ?', [5 * days]) };
    await knex('jobs').where({ id: later.id }).update(ago);
    // As if the clock had shown a time three days ahead when they were written.
    await knex('jobs')
      .whereNot({ id: later.id })
      .update({
        due_at: knex.raw('due_at + ?', [3 * days]),
        created_at: knex.raw('created_at + ?', [3 * days]),
        started_at: knex.raw('started_at + ?', [3 * days]),
      });
    if (dialect === 'sqlite') await jobs.drain();
    else await jobs.start();
    expect(await waitOf(waiting.id)).to.be.within(500_000, 600_000);
    expect(await waitOf(held.id)).to.be.within(0, 30_000);
    expect(await waitOf(later.id)).to.be.within(9.9 * days, 10 * days);
    await jobs.stop();
  });

  if (dialect === 'postgresql') return;

  it('go on after it was set forward, which ends all leases', async () => {
    const first = await site(days);
    const second = await site(days);
    const gate = deferred();
    for (const { own } of [first, second]) own.define({ name: 'chat' });
    const started = await first.own.start('chat', 'one', { key: 'a' });
    if (!started.isStarted) throw new Error('It did not start.');
    const answer = started.run(async ({ commit }) => {
      await gate.promise;
      await commit(async () => undefined);
      return 'answered';
    });
    const [job] = await first.own.list({ state: 'running' });
    await first.database.knex('jobs').update({ due_at: 1 });
    // The other process finds it expired; it waits until the first one has renewed its lease.
    expect(await second.jobs.drain()).to.equal(0);
    const draining = first.jobs.drain();
    await until('the lease is renewed', async () => (await first.waitOf(job?.id ?? 0)) > 20_000);
    gate.resolve();
    expect(await answer).to.equal('answered');
    await draining;
  });
});
