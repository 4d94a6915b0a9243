import { expect } from 'chai';
import type { ReservedCall } from '../../../../plugins/svc/modules/budgets/guard/hooks.ts';
import { describeDialects } from '../../../helpers/dialects.ts';
import { budget, openNode } from './budgeted-node.ts';

describeDialects('earlier names of budgets', (open) => {
  it('give filters the ids of bypassed budgets as waived', async () => {
    const node = await openNode(await open(), { budgets: [budget()] });
    const calls: ReservedCall[] = [];
    node.hooks.addFilter('svc_budget_reserve', (plan, call: ReservedCall) => {
      calls.push(call);
      return plan;
    });
    await node.call({ bypassedBudgetIds: ['other'] });
    expect(calls.map(({ waived, bypassedBudgetIds }) => [waived, bypassedBudgetIds])).to.deep.equal([
      [['other'], ['other']],
    ]);
  });
});
