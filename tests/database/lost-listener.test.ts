import { expect } from 'chai';
import { createSystemClock } from '../../host/clock.ts';
import { openDatabase } from '../../host/database/database.ts';
import { createFakeClock } from '../../host/testing/fake-clock.ts';
import { describeDialects } from '../helpers/dialects.ts';
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

describeDialects('a process that gets no notifications', (open, { dialect, location }) => {
  it('is to drop what it caches within a minute, again and again, and once more when they come', async () => {
    const clock = createFakeClock();
    const own = location();
    const { port } = new URL(own.databaseUrl ?? 'postgres://none:1');
    const proxy = await createSilentProxy({ host: '127.0.0.1', port: Number(port) });
    const through = new URL(own.databaseUrl ?? 'postgres://none');
    Object.assign(through, { hostname: '127.0.0.1', port: String(proxy.port) });
    const there = await openDatabase({
      ...{ databaseUrl: own.databaseUrl && through.href, dataDir: own.dataDir, clock },
      log: silentLog,
    });
    let [seen, gaps] = [0, 0];
    try {
      await there.listen(
        'colours',
        () => (seen += 1),
        () => (gaps += 1),
      );
      const other = await open();
      /** Heartbeats are answered meanwhile. */
      const passMinute = async (): Promise<void> => {
        for (let seconds = 0; seconds < 60; seconds += 2) {
          await clock.advance(2_000);
          const before = seen;
          await other.notify('colours', 'red');
          await until('a notification', async () => {
            await clock.advance(dialect === 'sqlite' ? 200 : 0);
            return seen > before;
          });
        }
      };
      await passMinute();
      expect(gaps, 'while they come').to.equal(0);
      const rename = (from: string, to: string) => other.knex.schema.renameTable(from, to);
      if (dialect === 'sqlite') await rename('notifications', 'gone');
      const restore = proxy.isolate();
      await clock.advance(60_000);
      expect(gaps).to.equal(1);
      await clock.advance(100_000);
      expect(gaps).to.equal(3);
      if (dialect === 'sqlite') await rename('gone', 'notifications');
      restore();
      gaps = 0;
      seen = 0;
      await until('a notification', async () => {
        await other.notify('colours', 'red');
        await clock.advance(200);
        return seen > 0;
      });
      expect(gaps, 'when they come again').to.be.at.least(1);
      gaps = 0;
      await passMinute();
      expect(gaps, 'afterwards').to.equal(0);
    } finally {
      await proxy.close();
      await there.close();
    }
  });
});
