import { expect } from 'chai';
import { createHooks } from '../../host/hooks/hooks.ts';
import { createOptions, migrations, type Options } from '../../host/options/options.ts';
import { createFakeClock, type FakeClock } from '../../host/testing/fake-clock.ts';
import { describeDialects, silentLog } from '../helpers/dialects.ts';
import { deferred } from '../jobs/site.ts';
import type { Database } from '../../host/database/database.ts';

describeDialects('transients', (open) => {
  let options: Options;
  let clock: FakeClock;
  let database: Database;

  beforeEach(async () => {
    clock = createFakeClock();
    database = await open({ clock });
    await database.migrate('host', migrations);
    options = createOptions({ database, hooks: createHooks(), clock, log: silentLog });
    await options.load();
  });

  afterEach(() => {
    options.stop();
  });

  const rows = async (): Promise<unknown> => (await database.knex('options').count({ count: '*' }))[0]?.['count'];

  it('live for their seconds and no longer', async () => {
    await options.setTransient('short', { a: 1 }, 10);
    clock.jump(10_000);
    expect(await options.getTransient('short')).to.deep.equal({ a: 1 });
    clock.jump(1_000);
    expect(await options.getTransient('short')).to.equal(false);
    expect(Number(await rows())).to.equal(0);
  });

  it('without an expiry stay', async () => {
    await options.setTransient('long', 'here');
    clock.jump(10 ** 12);
    expect(await options.getTransient('long')).to.equal('here');
    expect(await options.deleteTransient('long')).to.equal(true);
    expect(await options.getTransient('long')).to.equal(false);
  });

  it('can be false, and be replaced afterwards', async () => {
    await options.setTransient('flag', false, 60);
    expect(await options.setTransient('flag', true, 60)).to.equal(true);
    expect(await options.getTransient('flag')).to.equal(true);
  });

  it('can be made to expire later', async () => {
    await options.setTransient('lasting', 'a');
    await options.setTransient('lasting', 'b', 10);
    clock.jump(11_000);
    expect(await options.getTransient('lasting')).to.equal(false);
  });

  it('refuse an expiry that is no number of seconds', async () => {
    expect(await options.setTransient('odd', 1, -1).catch((error: unknown) => (error as Error).message)).to.match(
      /0 \(never\) or more seconds, not -1/,
    );
  });

  it('that expired are removed hourly, the others stay', async () => {
    await options.setTransient('short', 1, 10);
    await options.setTransient('long', 2, 10_000);
    await options.setTransient('for ever', 3);
    clock.jump(60_000);
    expect(await options.deleteExpiredTransients()).to.equal(1);
    expect(await options.deleteExpiredTransients()).to.equal(0);
    expect(Number(await rows())).to.equal(3);
    expect(await options.getTransient('long')).to.equal(2);
  });

  it('are removed in the second after their last one, and read until then', async () => {
    await options.setTransient('short', 1, 10);
    clock.jump(10_000);
    expect([await options.deleteExpiredTransients(), await options.getTransient('short')]).to.deep.equal([0, 1]);
    clock.jump(1_000);
    expect([await options.deleteExpiredTransients(), await options.getTransient('short')]).to.deep.equal([1, false]);
  });

  describe('remember', () => {
    it('creates the value once for concurrent callers, and again when it expired', async () => {
      let made = 0;
      const ask = (): Promise<number> => options.remember('sum', 60, async () => ++made);
      expect(await Promise.all([ask(), ask(), ask()])).to.deep.equal([1, 1, 1]);
      expect(await ask()).to.equal(1);
      clock.jump(61_000);
      expect(await ask()).to.equal(2);
    });

    it('passes an error to all waiting callers, and stores nothing', async () => {
      const fail = (): Promise<unknown> =>
        options
          .remember('sum', 60, async () => {
            throw new Error('no');
          })
          .catch((error: unknown) => (error as Error).message);
      expect(await Promise.all([fail(), fail()])).to.deep.equal(['no', 'no']);
      expect(await options.remember('sum', 60, async () => 5)).to.equal(5);
    });

    it('inside a transaction does not wait for others, who may wait for its connection', async () => {
      const [begun, gate] = [deferred(), deferred()];
      const outside = options.remember('sum', 60, async () => {
        begun.resolve();
        await gate.promise;
        return 'outside';
      });
      await begun.promise;
      const inside = await database.transaction(() => options.remember('sum', 60, () => Promise.resolve('inside')));
      expect(inside).to.equal('inside');
      gate.resolve();
      expect(await outside).to.equal('outside');
    });
  });
});
