import { expect } from 'chai';
import type { RestError } from '#plugin-api';
import { budgetStatus } from '../../../../plugins/svc/modules/budgets/guard/budget-status.ts';
import { describeDialects } from '../../../helpers/dialects.ts';
import { failureOf } from '../../../helpers/failure-of.ts';
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
});
