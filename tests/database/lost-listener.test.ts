import { expect } from 'chai';
import { createSystemClock } from '../../host/clock.ts';
import { openDatabase } from '../../host/database/database.ts';
import { createFakeClock } from '../../host/testing/fake-clock.ts';
import { createPostgresDatabase } from '../helpers/postgres.ts';
import { createSilentProxy } from '../helpers/silent-proxy.ts';
import { silentLog } from '../helpers/silent-log.ts';
import { until } from '../helpers/until.ts';

describe('a connection for LISTEN that the network drops without a reset', () => {
  it('is noticed within ten seconds, and what was missed is a gap', async () => {
    const { url, drop } = await createPostgresDatabase();
    const proxy = await createSilentProxy({ host: '127.0.0.1', port: Number(new URL(url).port) });
    const through = new URL(url);
    through.hostname = '127.0.0.1';
    through.port = String(proxy.port);
    const clock = createFakeClock();
    const there = await openDatabase({ databaseUrl: through.href, dataDir: '/none', clock, log: silentLog });
    const here = await openDatabase({ databaseUrl: url, dataDir: '/none', clock: createSystemClock(), log: silentLog });
    try {
      const seen: string[] = [];
      await there.listen(
        'colours',
        (payload) => seen.push(payload),
        () => seen.push('gap'),
      );
      await here.notify('colours', 'red');
      await until('the first notification', () => seen.length === 1);
      // A heartbeat that is answered changes nothing.
      await clock.advance(5_000);
      await there.ping();
      proxy.cut();
      await here.notify('colours', 'lost');
      await clock.advance(9_900);
      await until('the gap', async () => {
        await clock.advance(100);
        return seen.includes('gap');
      });
      await here.notify('colours', 'blue');
      await until('the notification after the gap', () => seen.length === 3);
      expect(seen).to.deep.equal(['red', 'gap', 'blue']);
    } finally {
      await proxy.close();
      await there.close();
      await here.close();
      await drop();
    }
  });
});
