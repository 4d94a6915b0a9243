import { expect } from 'chai';
import { createCron, migrations, type Cron } from '../../host/cron/cron.ts';
import { createCronHistory, createCronStore } from '../../host/cron/store.ts';
import type { Database } from '../../host/database/database.ts';
import { createHooks, type Hooks } from '../../host/hooks/hooks.ts';
import { createFakeClock, type FakeClock } from '../../host/testing/fake-clock.ts';
import { describeDialects, silentLog } from '../helpers/dialects.ts';
import { until } from '../helpers/until.ts';

const hour = 3_600_000;

describeDialects('claims of cron events', (open) => {
  let clock: FakeClock;
  let database: Database;

  async function node(): Promise<{ cron: Cron; hooks: Hooks }> {
    const hooks = createHooks({ log: silentLog });
    return { cron: createCron({ database: await open(), hooks, clock, log: silentLog }), hooks };
  }

  beforeEach(async () => {
    clock = createFakeClock();
    database = await open();
    await database.migrate('host', migrations);
  });

  it('fail once another node has run the event and moved it', async () => {
    const { cron } = await node();
    await cron.schedule('hourly', 'ev', { firstRun: clock.now() });
    const [here, there] = [createCronStore(database), createCronStore(await open())];
    const [[mine], [theirs]] = [await here.due(clock.now(), () => true), await there.due(clock.now(), () => true)];
    const claim = await there.claim(theirs!);
    expect(await here.claim(mine!), 'while it is held').to.equal(null);
    await there.release(claim!, clock.now() + hour);
    expect(await here.claim(mine!), 'after it was moved').to.equal(null);
    expect(await cron.next('ev')).to.equal(clock.now() + hour);
    const [moved] = await here.due(clock.now() + hour, () => true);
    expect((await here.claim(moved!))?.attempt).to.equal(1);
  });

  it('end with one event where an equal one is due at the next time', async () => {
    const { cron, hooks } = await node();
    let runs = 0;
    hooks.addAction('ev', () => (runs += 1));
    for (const firstRun of [clock.now(), clock.now() + hour]) await cron.schedule('hourly', 'ev', { firstRun });
    expect(await cron.runDue()).to.equal(1);
    expect((await cron.list()).map(({ nextRun }) => nextRun - clock.now())).to.deep.equal([hour]);
    clock.jump(hour);
    expect(await cron.runDue()).to.equal(1);
    expect([runs, (await cron.list()).length]).to.deep.equal([2, 1]);
  });

  it('count the crashes of one run, and not those of earlier ones', async () => {
    const { cron, hooks } = await node();
    let runs = 0;
    hooks.addAction('ev', () => (runs += 1));
    await cron.schedule('hourly', 'ev', { firstRun: clock.now() });
    for (let round = 1; round <= 3; round += 1) {
      const store = createCronStore(database);
      for (let crash = 0; crash < 2; crash += 1) {
        const [event] = await store.due(clock.now(), () => true);
        expect((await store.claim(event!))?.attempt).to.equal(crash + 1);
        await database.knex('cron_events').update({ leased_until: 0 });
      }
      await cron.runDue();
      expect(runs).to.equal(round);
      clock.jump(hour);
    }
  });

  it('run what another node scheduled for now after the clock was set back, without a notification', async () => {
    const { cron, hooks } = await node();
    const ran: number[] = [];
    hooks.addAction('ev', () => void ran.push(clock.now()));
    await cron.start();
    try {
      await clock.advance(1_000);
      clock.jump(-30 * 24 * hour);
      const event = { hook: 'ev', args: [], schedule: null, owner: null, nextRun: clock.now() };
      await createCronStore(database).insert(event);
      await until('the event runs', async () => {
        await clock.advance(1_000);
        return ran.length > 0;
      });
      expect(ran[0]! - event.nextRun).to.be.below(hour);
    } finally {
      await cron.stop();
    }
  });

  it('leave a run done when a callback of another hook fails meanwhile', async () => {
    const { cron, hooks } = await node();
    hooks.addAction('other', () => {
      throw new Error('not of this run');
    });
    hooks.addAction('ev', () => hooks.doAction('other'));
    await cron.scheduleSingle(clock.now(), 'ev');
    await cron.runDue();
    expect((await cron.history())[0]).to.include({ hook: 'ev', outcome: 'done', error: null });
  });

  it('keep the last fifty runs of each hook', async () => {
    const history = createCronHistory(database);
    const record = (hook: string, startedAt: number): Promise<void> =>
      history.record({
        ...{ hook, args: [], schedule: null, dueAt: startedAt, startedAt, finishedAt: startedAt },
        ...{ outcome: 'done', error: null },
      });
    for (let count = 0; count < 5; count += 1) await record('late', 1_000 + count);
    for (let count = 0; count < 52; count += 1) await record('early', count);
    expect((await history.list({ hook: 'late', limit: 100 })).length).to.equal(5);
    const early = await history.list({ hook: 'early', limit: 100 });
    expect(early.map(({ startedAt }) => startedAt)).to.deep.equal(Array.from({ length: 50 }, (_, index) => 51 - index));
  });
});
