import { expect } from 'chai';
import { createFakeClock } from '#testing';
import { createCounterTable, createLimitCounters } from '../../../../plugins/svc/kit/visitors/limit-counters.ts';
import { describeDialects } from '../../../helpers/dialects.ts';

const table = { table: 'counters', scopeColumn: 'form_id' };

describeDialects('the counters of limits of visitors', (open) => {
  it('never fall below zero, and return what was reserved and not used, once', async () => {
    const database = await open();
    await createCounterTable(database.knex, table);
    const clock = createFakeClock();
    const site = { timezone: () => Promise.resolve('UTC') };
    const counters = createLimitCounters({
      host: { database, clock, site } as never,
      signer: { sign: () => Promise.resolve(Buffer.alloc(32)), isSigned: () => Promise.resolve(true) },
      ...table,
      find: () => Promise.resolve({ scope: 1, unit: 'tokens', per: 'day' as const, amount: 100 }),
    });
    const limit = (await counters.of({ user: { id: 7 }, session: { id: 's' }, ip: '' }))!;
    const reserve = async () =>
      (await database.transaction(() => counters.reserve(limit, { least: 1, most: 60 }))) as NonNullable<
        Awaited<ReturnType<typeof counters.reserve>>
      >;
    const first = await reserve();
    expect([first.amount, await counters.left(limit)]).to.deep.equal([60, 40]);
    expect((await reserve()).amount).to.equal(40);
    await counters.settle(first, 10);
    expect(await counters.left(limit)).to.equal(50);
    await counters.settle(first, 0);
    expect(await counters.left(limit), 'a second settlement').to.equal(100);
    expect((await database.knex('counters').pluck('used')).map(Number)).to.deep.equal([0]);
  });
});
