import { expect } from 'chai';
import { localMinute } from '#plugin-api';
import { createCron, migrations } from '../../host/cron/cron.ts';
import { createHooks } from '../../host/hooks/hooks.ts';
import { createFakeClock } from '../../host/testing/fake-clock.ts';
import { describeDialects, silentLog } from '../helpers/dialects.ts';

describeDialects('cron in time zones', (open) => {
  it('runs expressions by the clock of a time zone', async () => {
    const database = await open();
    await database.migrate('host', migrations);
    const hooks = createHooks({ log: silentLog });
    const cron = createCron({ database, hooks, clock: createFakeClock(), log: silentLog });
    expect(await cron.schedule('0 9 * * *', 'ev', { timeZone: 'Europe/Berlin' })).to.equal(true);
    expect(await cron.schedule('0 9 * * *', 'ev', { timeZone: 'Europe/Berlin' })).to.equal(false);
    const [event] = await cron.list();
    expect(event?.schedule).to.equal('CRON_TZ=Europe/Berlin 0 9 * * *');
    expect(localMinute(event?.nextRun ?? 0, 'Europe/Berlin').slice(11)).to.equal('09:00');
    expect(await cron.schedule('0 9 * * *', 'other', { timeZone: 'Mars/Base' })).to.equal(false);
  });
});
