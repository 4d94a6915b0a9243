import { expect } from 'chai';
import type { FakeClock } from '../../host/testing/fake-clock.ts';
import { createFakeClock } from '../../host/testing/fake-clock.ts';
import { createCron, migrations, type Cron } from '../../host/cron/cron.ts';
import type { Database } from '../../host/database/database.ts';
import { createHooks, type Hooks } from '../../host/hooks/hooks.ts';
import { describeDialects, silentLog } from '../helpers/dialects.ts';

describeDialects('cron', (open) => {
  let clock: FakeClock;

  async function node(): Promise<{ cron: Cron; hooks: Hooks; database: Database }> {
    const database = await open();
    await database.migrate('host', migrations);
    const hooks = createHooks({ log: silentLog });
    return { cron: createCron({ database, hooks, clock, log: silentLog }), hooks, database };
  }

  beforeEach(() => {
    clock = createFakeClock();
  });

  it('keeps recurring events as recorded', async () => {
    const { cron } = await node();
    const now = clock.now();
    expect([
      await cron.schedule('hourly', 'ev', { firstRun: now + 100_000 }),
      await cron.schedule('hourly', 'ev', { firstRun: now + 100_000 }),
      await cron.schedule('hourly', 'ev', { firstRun: now + 200_000 }),
      await cron.schedule('nope', 'ev', { firstRun: now + 100_000 }),
      await cron.schedule('hourly', 'ev', { firstRun: 0 }),
      (await cron.list())[0]?.schedule,
      (await cron.next('ev')) === now + 100_000,
      await cron.next('ev', ['x']),
      await cron.unschedule('ev'),
      await cron.next('ev'),
    ]).to.deep.equal([true, false, true, false, false, 'hourly', true, false, 2, false]);
  });

  it('refuses a single event within ten minutes of an equal one, as recorded', async () => {
    const { cron } = await node();
    const now = clock.now();
    expect([
      await cron.scheduleSingle(now + 50_000, 'ev', ['a']),
      await cron.scheduleSingle(now + 300_000, 'ev', ['a']),
      await cron.scheduleSingle(now + 1_300_000, 'ev', ['a']),
      await cron.scheduleSingle(now + 300_000, 'ev', ['b']),
      await cron.scheduleSingle(now + 300_000, 'ev', [1]),
      await cron.scheduleSingle(now + 300_000, 'ev', ['1']),
      await cron.unschedule('ev'),
    ]).to.deep.equal([true, false, true, true, true, true, 5]);
  });

  it('stores the events of one registration together, keeps equal ones and replaces other schedules', async () => {
    const [{ cron, database }, other] = [await node(), await node()];
    await other.cron.recur('shop', 'daily', 'kept');
    await other.cron.recur('shop', 'daily', 'moved');
    const kept = await cron.next('kept');
    await clock.advance(1000);
    const stored: number[] = [];
    await cron.gather('shop', async () => {
      await cron.recur('shop', 'daily', 'kept');
      for (const hook of ['moved', 'new']) await cron.recur('shop', 'hourly', hook);
      await cron.recur('shop', 'nope', 'invalid');
      stored.push((await cron.list()).length);
    });
    stored.push((await cron.list()).length);
    expect(stored).to.deep.equal([2, 3]);
    expect((await cron.list()).map(({ hook, schedule }) => `${hook} ${schedule}`)).to.have.members([
      'kept daily',
      'moved hourly',
      'new hourly',
    ]);
    expect(await cron.next('kept')).to.equal(kept);
    expect(await database.knex('cron_events').pluck('owner')).to.deep.equal(['shop', 'shop', 'shop']);
  });

  it('stores no event of a registration that fails, and none of it later', async () => {
    const { cron } = await node();
    const failed = cron.gather('shop', async () => {
      await cron.recur('shop', 'hourly', 'never');
      throw new Error('no');
    });
    expect(await failed.catch((error: Error) => error.message)).to.equal('no');
    await cron.recur('shop', 'hourly', 'later');
    expect((await cron.list()).map(({ hook }) => hook)).to.deep.equal(['later']);
  });

  it('takes away one of several events by its time', async () => {
    const { cron } = await node();
    const now = clock.now();
    for (const firstRun of [now + 1000, now + 2000]) await cron.schedule('hourly', 'ev', { firstRun });
    expect([await cron.unschedule('ev', [], now + 1500), await cron.unschedule('ev', [], now + 1000)]).to.deep.equal([
      0, 1,
    ]);
    expect(await cron.next('ev')).to.equal(now + 2000);
  });

  it('accepts the same recurring event at each start', async () => {
    const { cron } = await node();
    expect(await cron.schedule('*/5 * * * *', 'sweep')).to.equal(true);
    expect(await cron.schedule('*/5 * * * *', 'sweep')).to.equal(false);
    expect(await cron.next('sweep')).to.equal(clock.now() + 300_000);
  });

  it('runs what is due with its arguments and keeps the rest', async () => {
    const { cron, hooks } = await node();
    const seen: unknown[] = [];
    hooks.addAction('ev', (...args) => seen.push(args));
    await cron.scheduleSingle(clock.now() + 1000, 'ev', ['once', { deep: [1] }]);
    await cron.schedule('hourly', 'ev', { args: ['often'], firstRun: clock.now() + 2000 });
    await clock.advance(1000);
    expect([await cron.runDue(), seen]).to.deep.equal([1, [['once', { deep: [1] }]]]);
    await clock.advance(1000);
    expect([await cron.runDue(), seen[1]]).to.deep.equal([1, ['often']]);
    expect(await cron.next('ev', ['often'])).to.equal(clock.now() + 3_600_000);
    expect(await cron.next('ev', ['once', { deep: [1] }])).to.equal(false);
  });

  it('collapses runs missed while no node was up into one', async () => {
    const { cron, hooks } = await node();
    let runs = 0;
    hooks.addAction('ev', () => (runs += 1));
    const first = clock.now() + 1000;
    await cron.schedule('hourly', 'ev', { firstRun: first });
    clock.jump(5 * 3_600_000);
    await cron.runDue();
    expect(await cron.runDue()).to.equal(0);
    expect([runs, await cron.next('ev')]).to.deep.equal([1, first + 5 * 3_600_000]);
  });

  it('keeps the error of a job that throws, and runs the others', async () => {
    const { cron, hooks } = await node();
    hooks.forOwner('shop').addAction('bad', () => {
      throw new Error('out of stock');
    });
    hooks.addAction('good', () => undefined);
    for (const hook of ['bad', 'good']) await cron.scheduleSingle(clock.now(), hook);
    expect(await cron.runDue()).to.equal(2);
    const history = Object.fromEntries(
      (await cron.history()).map(({ hook, outcome, error }) => [hook, [outcome, error]]),
    );
    expect(history).to.deep.equal({
      bad: ['failed', 'shop: out of stock'],
      good: ['done', null],
    });
  });

  it('pauses the events of a plugin while it is inactive, and runs others meanwhile', async () => {
    const { cron, hooks } = await node();
    const runs: string[] = [];
    const activate = () => hooks.forOwner('shop').addAction('shop_sync', (kind: string) => runs.push(kind));
    const withdraw = cron.addSchedule('minutely', 60, 'Every minute');
    activate();
    const first = clock.now() + 1000;
    await cron.schedule('minutely', 'shop_sync', { args: ['each minute'], firstRun: first });
    for (let index = 0; index < 60; index += 1) await cron.scheduleSingle(first, 'shop_sync', [`once ${index}`]);
    hooks.removeOwner('shop');
    withdraw();
    hooks.addAction('other', () => runs.push('other'));
    await cron.start();
    await cron.scheduleSingle(first + 60_000, 'other');
    clock.jump(3_600_000);
    expect([await cron.runDue(), runs]).to.deep.equal([1, ['other']]);
    expect([(await cron.list()).length, await cron.next('shop_sync', ['once 7'])]).to.deep.equal([61, first]);
    await cron.stop();
    cron.addSchedule('minutely', 60, 'Every minute');
    activate();
    while ((await cron.runDue()) > 0);
    expect(runs.sort()).to.deep.equal(
      [...Array.from({ length: 60 }, (_, index) => `once ${index}`), 'each minute', 'other'].sort(),
    );
    expect(await cron.next('shop_sync', ['each minute'])).to.equal(first + 3_600_000);
  });

  it('renames the former outcome of runs without a callback', async () => {
    const database = await open();
    await database.migrate('host', migrations.slice(0, 1));
    await database.knex('cron_runs').insert({
      id: '1',
      hook: 'orphan',
      args: '[]',
      due_at: 1,
      started_at: 1,
      finished_at: 1,
      outcome: 'unheard',
    });
    await database.migrate('host', migrations);
    expect(await database.knex('cron_runs').pluck('outcome')).to.deep.equal(['no_callback']);
  });

  it('runs an event on one of several nodes', async () => {
    const nodes = [await node(), await node()];
    let runs = 0;
    for (const { hooks } of nodes) hooks.addAction('ev', () => (runs += 1));
    for (let index = 0; index < 20; index += 1) await nodes[0]?.cron.scheduleSingle(clock.now(), 'ev', [index]);
    const counts = await Promise.all(nodes.map(({ cron }) => cron.runDue()));
    expect([runs, counts.reduce((sum, count) => sum + count, 0)]).to.deep.equal([20, 20]);
  });

  it('runs by itself once started, and waits for what runs when it stops', async () => {
    const { cron, hooks } = await node();
    let release = (): void => undefined;
    let started = false;
    hooks.addAction('ev', () => {
      started = true;
      return new Promise<void>((done) => (release = done));
    });
    await cron.start();
    await cron.scheduleSingle(clock.now() + 5000, 'ev');
    while (!started) {
      await clock.advance(1000);
      await cron.list();
    }
    let stopped = false;
    const stopping = cron.stop().then(() => (stopped = true));
    await clock.advance(0);
    expect(stopped).to.equal(false);
    release();
    await stopping;
    expect((await cron.history())[0]).to.include({ hook: 'ev', outcome: 'done' });
  });

  it('runs a hook on request, without changing its schedule', async () => {
    const { cron, hooks } = await node();
    hooks.addAction('ev', () => undefined);
    await cron.schedule('daily', 'ev');
    const next = await cron.next('ev');
    expect((await cron.run('ev'))[0]).to.include({ outcome: 'done' });
    expect(await cron.next('ev')).to.equal(next);
    let refusal: unknown;
    await cron.run('missing').catch((error: unknown) => (refusal = error));
    expect(String(refusal)).to.include("The hook 'missing' has no callbacks");
  });

  it('adds named schedules and refuses bad ones with a sentence', async () => {
    const { cron } = await node();
    const undo = cron.addSchedule('minutely', 60, 'Every minute');
    expect(await cron.schedule('minutely', 'ev')).to.equal(true);
    expect(() => cron.addSchedule('minutely', 60, 'Again')).to.throw('already');
    expect(() => cron.addSchedule('never', 0, 'Never')).to.throw('1 or more');
    expect(() => cron.addSchedule('* * * * *', 60, 'Expression')).to.throw('another name');
    undo();
    expect(await cron.schedule('minutely', 'other')).to.equal(false);
  });

  it('refuses a single event while an equal one is overdue', async () => {
    const { cron } = await node();
    await cron.scheduleSingle(clock.now(), 'ev');
    clock.jump(86_400_000);
    expect(await cron.scheduleSingle(clock.now() + 1000, 'ev')).to.equal(false);
    expect(await cron.scheduleSingle(clock.now() + 3_600_000, 'ev')).to.equal(true);
  });

  it('adds a recurring event once when two nodes schedule it at the same time', async () => {
    const nodes = [await node(), await node()];
    const answers = await Promise.all(
      nodes.map(async ({ cron }) => {
        clock.jump(7);
        return cron.schedule('hourly', 'sweep');
      }),
    );
    expect(answers.filter(Boolean)).to.have.length(1);
    expect(await nodes[0]!.cron.list()).to.have.length(1);
  });

  it('moves a recurring event to another schedule when scheduled without a time', async () => {
    const { cron } = await node();
    await cron.schedule('hourly', 'sweep');
    expect(await cron.schedule('daily', 'sweep')).to.equal(true);
    expect((await cron.list()).map(({ schedule }) => schedule)).to.deep.equal(['daily']);
  });

  it('lets the job of a single event schedule it again', async () => {
    const { cron, hooks } = await node();
    const answers: unknown[] = [];
    hooks.addAction('step', async () => {
      answers.push(await cron.next('step'), await cron.scheduleSingle(clock.now() + 60_000, 'step'));
    });
    await cron.scheduleSingle(clock.now(), 'step');
    await cron.runDue();
    expect(answers).to.deep.equal([false, true]);
    expect(await cron.next('step')).to.equal(clock.now() + 60_000);
  });

  it('shows the next time of a recurring event while its job runs, and lets the job end it', async () => {
    const { cron, hooks } = await node();
    const first = clock.now();
    const seen: unknown[] = [];
    hooks.addAction('sweep', async () => {
      seen.push(await cron.next('sweep'), await cron.schedule('hourly', 'sweep'), await cron.unschedule('sweep'));
    });
    await cron.schedule('hourly', 'sweep', { firstRun: first });
    await cron.runDue();
    expect(seen).to.deep.equal([first + 3_600_000, false, 1]);
    expect(await cron.list()).to.deep.equal([]);
  });

  it('keeps arguments of any length', async () => {
    const { cron, hooks } = await node();
    const text = Array.from({ length: 20_000 }, (_, index) =>
      String.fromCodePoint(0x4e00 + ((index * 7919) % 20_000)),
    ).join('');
    let length = 0;
    hooks.addAction('ev', (given: string) => (length = given.length));
    await cron.scheduleSingle(clock.now(), 'ev', [text]);
    await cron.runDue();
    expect(length).to.equal(20_000);
  });

  it('runs the others while one job hangs', async () => {
    const { cron, hooks } = await node();
    let [release, hangs, ran] = [(): void => undefined, false, false];
    const released = new Promise<void>((done) => (release = done));
    hooks.addAction('hangs', () => {
      hangs = true;
      return released;
    });
    hooks.addAction('quick', () => (ran = true));
    const advanceUntil = async (isOver: () => boolean): Promise<void> => {
      while (!isOver()) {
        await clock.advance(1000);
        await cron.list();
      }
    };
    await cron.start();
    await cron.scheduleSingle(clock.now(), 'hangs');
    await advanceUntil(() => hangs);
    await cron.scheduleSingle(clock.now() + 5000, 'quick');
    await advanceUntil(() => ran);
    release();
    await cron.stop();
    expect((await cron.history()).map(({ hook }) => hook)).to.have.members(['hangs', 'quick']);
  });

  describe('when a node dies during a job', () => {
    const endLease = (database: Database): Promise<unknown> => database.knex('cron_events').update({ leased_until: 0 });

    it('leaves the event alone while the lease holds, and runs it elsewhere afterwards', async () => {
      const [dying, other] = [await node(), await node()];
      let [release, runs] = [(): void => undefined, 0];
      const claimed = new Promise<void>((started) => {
        dying.hooks.addAction('ev', () => {
          started();
          return new Promise<void>((done) => (release = done));
        });
      });
      other.hooks.addAction('ev', () => (runs += 1));
      await dying.cron.schedule('hourly', 'ev', { firstRun: clock.now() });
      const lost = dying.cron.runDue();
      await claimed;
      expect([await other.cron.runDue(), runs]).to.deep.equal([0, 0]);
      await endLease(other.database);
      expect([await other.cron.runDue(), runs]).to.deep.equal([1, 1]);
      const next = await other.cron.next('ev');
      clock.jump(10_000_000);
      release();
      await lost;
      // The one that lost its lease must not move the event.
      expect(await other.cron.next('ev')).to.equal(next);
    });

    it('gives the event up after three times, with a reason on record', async () => {
      const { cron, hooks, database } = await node();
      // Nodes that die while they run it.
      const ends: (() => void)[] = [];
      let runs = 0;
      const lost: Promise<unknown>[] = [];
      for (let count = 0; count < 3; count += 1) {
        const dying = await node();
        const claimed = new Promise<void>((started) => {
          dying.hooks.addAction('ev', () => {
            started();
            runs += 1;
            return new Promise<void>((done) => ends.push(done));
          });
        });
        if (count === 0) await dying.cron.scheduleSingle(clock.now(), 'ev');
        lost.push(dying.cron.runDue());
        await claimed;
        await endLease(database);
      }
      hooks.addAction('ev', () => (runs += 1));
      await cron.runDue();
      expect(runs).to.equal(3);
      for (const end of ends) end();
      await Promise.all(lost);
      expect(runs).to.equal(3);
      expect((await cron.history()).find(({ outcome }) => outcome === 'failed')).to.include({
        hook: 'ev',
        error: 'The node stopped during this job 3 times; it will not be retried.',
      });
      expect(await cron.list()).to.deep.equal([]);
    });
  });
});
