import { expect } from 'chai';
import { failureOf } from '../helpers/failure-of.ts';
import { createFakeClock } from '../../host/testing/fake-clock.ts';
import { describeDialects } from '../helpers/dialects.ts';

/** Collects what comes, and lets a test wait until there are so many. */
function createInbox(): {
  readonly received: string[];
  take(payload: string): void;
  reach(count: number): Promise<void>;
} {
  const received: string[] = [];
  let check = (): void => {};
  return {
    received,
    take(payload) {
      received.push(payload);
      check();
    },
    reach: (count) =>
      new Promise((resolve) => {
        check = () => {
          if (received.length >= count) resolve();
        };
        check();
      }),
  };
}

describeDialects('notifications', (open, { dialect }) => {
  it('reach another node within a second, and the sender too', async () => {
    // A second of their clock, not of a machine that may be busy: nothing is looked for later than that.
    const clock = createFakeClock();
    const [here, there] = [await open({ clock }), await open({ clock })];
    const [own, others] = [createInbox(), createInbox()];
    await here.listen('colours', (payload) => {
      own.take(payload);
    });
    await there.listen('colours', (payload) => {
      others.take(payload);
    });
    await here.notify('colours', 'red');
    await clock.advance(999);
    await Promise.all([own.reach(1), others.reach(1)]);
    expect(own.received).to.deep.equal(['red']);
    expect(others.received).to.deep.equal(['red']);
  });

  it('come in the order they were sent, each once', async () => {
    const [here, there] = [await open(), await open()];
    const inbox = createInbox();
    await there.listen('numbers', (payload) => {
      inbox.take(payload);
    });
    for (let number = 0; number < 20; number++) await here.notify('numbers', String(number));
    await inbox.reach(20);
    expect(inbox.received).to.deep.equal(Array.from({ length: 20 }, (_, number) => String(number)));
  });

  it('of a transaction are sent at its commit, or not at all', async () => {
    const [here, there] = [await open(), await open()];
    const [own, others] = [createInbox(), createInbox()];
    await here.listen('colours', (payload) => {
      own.take(payload);
    });
    await there.listen('colours', (payload) => {
      others.take(payload);
    });
    await here
      .transaction(async () => {
        await here.notify('colours', 'lost');
        throw new Error('no');
      })
      .catch(() => {});
    await here.transaction(async () => {
      await here.notify('colours', 'sent');
    });
    await Promise.all([own.reach(1), others.reach(1)]);
    expect([own.received, others.received]).to.deep.equal([['sent'], ['sent']]);
  });

  it('of other channels, and after the undo, are not received', async () => {
    const [here, there] = [await open(), await open()];
    const [ended, open_] = [createInbox(), createInbox()];
    const undo = await there.listen('colours', (payload) => {
      ended.take(payload);
    });
    await there.listen('numbers', (payload) => {
      open_.take(payload);
    });
    undo();
    undo();
    await here.notify('colours', 'red');
    await here.notify('numbers', '1');
    await open_.reach(1);
    expect(ended.received).to.deep.equal([]);
    expect(open_.received).to.deep.equal(['1']);
  });

  it('go to the other listeners when one throws', async () => {
    const database = await open();
    const inbox = createInbox();
    await database.listen('colours', () => {
      throw new Error('colour-blind');
    });
    await database.listen('colours', (payload) => {
      inbox.take(payload);
    });
    await database.notify('colours', 'red');
    await inbox.reach(1);
  });

  it('refuse a channel of another shape', async () => {
    const database = await open();
    expect(await database.notify('No; DROP', '').catch((error: unknown) => (error as Error).message)).to.match(
      /is not a valid channel/,
    );
    expect(((await failureOf(database.listen('order-helper_x', () => undefined))) as Error).message).to.match(
      /Write '_' for each '-' of a plugin's slug\.$/,
    );
  });

  if (dialect === 'sqlite') {
    it('are polled four to five times a second, and no more without listeners', async () => {
      const clock = createFakeClock();
      const database = await open({ clock });
      const undo = await database.listen('colours', () => {});
      expect(clock.pending()).to.equal(1);
      undo();
      expect(clock.pending()).to.equal(0);
    });

    it('report a gap to a listener that fell far behind', async () => {
      const clock = createFakeClock();
      const [here, there] = [await open(), await open({ clock })];
      let gaps = 0;
      await there.listen(
        'numbers',
        () => {},
        () => {
          gaps++;
        },
      );
      await here.transaction(async () => {
        for (let number = 0; number < 600; number++) await here.notify('numbers', String(number));
      });
      await clock.advance(250);
      expect(gaps).to.equal(1);
    });
  }

  if (dialect === 'postgresql') {
    it('continue after the listening connection was cut, and report the gap', async () => {
      const [here, there] = [await open(), await open()];
      const [inbox, gaps] = [createInbox(), createInbox()];
      await there.listen(
        'colours',
        (payload) => {
          inbox.take(payload);
        },
        () => {
          gaps.take('gap');
        },
      );
      await here.knex.raw(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()",
      );
      await gaps.reach(1);
      await here.notify('colours', 'red');
      await inbox.reach(1);
      expect(inbox.received).to.deep.equal(['red']);
    });

    it('refuse a payload that PostgreSQL would not carry', async () => {
      const database = await open();
      expect(
        await database.notify('colours', 'x'.repeat(8_000)).catch((error: unknown) => (error as Error).message),
      ).to.match(/at most 7999 bytes/);
    });
  }
});
