import { expect } from 'chai';
import type { RestError } from '#plugin-api';
import { budgetStatus } from '../../../../plugins/svc/modules/budgets/guard/budget-status.ts';
import { describeDialects } from '../../../helpers/dialects.ts';
import { failureOf } from '../../../helpers/failure-of.ts';
import { until } from '../../../helpers/until.ts';
import { budget, openNode } from './budgeted-node.ts';

describeDialects('budgets with reservations', (open) => {
  it('are not used up while running calls only hold them: the caller waits for these, and the state stays', async () => {
    const budgets = [budget({ unit: 'dollars', amount: 0.32 })];
    const node = await openNode(await open(), { budgets });
    const announced: unknown[] = [];
    node.hooks.addAction('svc_budget_exhausted', (alert) => void announced.push(alert));
    let finish = (): void => undefined;
    const gate = new Promise<void>((resolve) => (finish = resolve));
    let started = (): void => undefined;
    const allStarted = new Promise<void>((resolve) => (started = resolve));
    let count = 0;
    const run = async () => {
      if (++count === 10) started();
      await gate;
      return { inputTokens: 10, outputTokens: 2 };
    };
    const running = Array.from({ length: 10 }, () => node.call({ run, limit: 45_000 }));
    await allStarted;
    const error = (await failureOf(node.call({ limit: 45_000 }))) as RestError;
    expect(error).to.include({ status: 429, code: 'rest_svc_budget_exhausted' });
    expect(error.message).to.contain('Running calls have reserved what is left of the budget “Main”.');
    expect(error.data).to.deep.equal({ budget: 'main', is_reserved: true });
    expect(error.headers).to.deep.equal({ 'Retry-After': '45' });
    const state = async () =>
      (await budgetStatus({ ...node, site: { timezone: () => Promise.resolve('UTC') } } as never, budgets)).map(
        (one) => one.state,
      );
    expect(await state()).to.deep.equal(['ok']);
    finish();
    await Promise.all(running);
    await node.call();
    expect([await state(), announced]).to.deep.equal([['ok'], []]);
  });

  it('hold them as long as their process renews them or runs on this machine', async () => {
    const database = await open();
    const node = await openNode(database, { budgets: [budget({ amount: 1 })] });
    const table = () => database.knex('svc_budget_reservations');
    /** Whether a second call is refused if the lease of the first is over, and this its owner. */
    const isHeldBy = async (owner: string): Promise<boolean> => {
      await table().update({ owner, lease: 1 });
      return failureOf(node.call()).then(
        (error) => (error as RestError).message.startsWith('Running calls'),
        () => false,
      );
    };
    const held: Record<string, boolean> = {};
    await node.call({
      async run() {
        const [{ owner }] = (await table().select('owner')) as [{ owner: string }];
        const [, machine, pid, startedAt] = /^(.+)\/(\d+)\/(\d+)$/.exec(owner)!;
        await table().update({ lease: 1 });
        await node.clock.advance(10_000);
        await until('the lease is renewed', async () => (await table().where('lease', '>', Date.now())).length > 0);
        held['this process'] = await isHeldBy(owner);
        held['another one of this machine'] = await isHeldBy(`${machine}/${process.ppid}/${startedAt}`);
        held['an earlier one with the same id'] = await isHeldBy(`${machine}/${pid}/${Number(startedAt) - 1}`);
        return { inputTokens: 1, outputTokens: 1 };
      },
    });
    expect(held).to.deep.equal({
      'this process': true,
      'another one of this machine': true,
      'an earlier one with the same id': false,
    });
    await node.clock.advance(10_000);
    await until('nothing is left to renew', () => node.clock.pending() === 0);
  });
});
