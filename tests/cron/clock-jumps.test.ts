import { expect } from 'chai';
import { createFakeClock } from '../../host/testing/fake-clock.ts';
import { createCron, migrations } from '../../host/cron/cron.ts';
import { createHooks } from '../../host/hooks/hooks.ts';
import { describeDialects, silentLog } from '../helpers/dialects.ts';
import { until } from '../helpers/until.ts';

describeDialects('cron on a machine whose clock jumps', (open) => {
  it('brings recurring events forward when the clock is set back, and no others', async () => {
    let jump = 0;
    const clock = createFakeClock();
    const database = await open();
    await database.migrate('host', migrations);
    const hooks = createHooks({ log: silentLog });
    const readJump = () => {
      const read = jump;
      jump = 0;
      return read;
    };
    const cron = createCron({ database, hooks, clock, log: silentLog, readJump });
    const ran: string[] = [];
    const names = ['minutely', 'daily', 'far', 'single'];
    for (const hook of names) hooks.addAction(hook, () => void ran.push(hook));
    const now = clock.now();
    await cron.schedule('*/5 * * * *', 'minutely');
    await cron.schedule('daily', 'daily');
    await cron.schedule('hourly', 'far', { firstRun: now + 30 * 86_400_000 });
    await cron.scheduleSingle(now + 7_200_000, 'single');
    await cron.start();
    await clock.advance(1_000);
    clock.jump((jump = -3 * 86_400_000));
    const waits = () => Promise.all(names.map(async (hook) => Number(await cron.next(hook)) - clock.now()));
    await until('the events are brought forward', async () => {
      await clock.advance(1_000);
      return ((await waits())[0] ?? 0) <= 300_000;
    });
    const [minutely, daily, far, single] = await waits();
    expect(minutely).to.be.within(1, 300_000);
    expect(daily).to.be.within(80_000_000, 86_400_000);
    expect(far).to.be.greaterThan(30 * 86_400_000);
    expect(single).to.be.greaterThan(3 * 86_400_000);
    await until('the event runs', async () => {
      await clock.advance(60_000);
      return ran.includes('minutely');
    });
    await cron.stop();
  });
});
