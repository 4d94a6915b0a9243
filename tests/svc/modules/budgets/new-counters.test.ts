import { expect } from 'chai';
import { describeDialects } from '../../../helpers/dialects.ts';
import { until } from '../../../helpers/until.ts';
import { budget, countersOf, openNode } from './budgeted-node.ts';

describeDialects('the counter of a new budget', (open, { dialect }) => {
  // SQLite has one writer at a time.
  const onlyOnPostgresql = dialect === 'postgresql' ? it : () => undefined;
  onlyOnPostgresql('waits for what is being stored while it begins: each call counts once', async () => {
    const database = await open();
    const [node, other] = [await openNode(database, { budgets: [] }), await openNode(await open(), { budgets: [] })];
    for (let count = 0; count < 3; count += 1) await node.call();
    await node.ledger.flush();
    const writing = await database.knex.transaction();
    await writing('svc_usage_days').update({ billed: writing.raw('billed + 4') });
    other.state.budgets = [budget({ amount: 20 })];
    let isOver = false;
    const call = other.call().then(() => other.ledger.flush().then(() => (isOver = true)));
    await until('the call waits, or is over', async () => {
      const waiting = await database.knex('pg_locks').where({ granted: false, locktype: 'relation' }).first('pid');
      return isOver || waiting !== undefined;
    });
    await writing.commit();
    await call;
    expect(await countersOf(database)).to.deep.equal({
      'main/all/calls 2026-01': { used: 8, reserved: 0, refused: 0 },
    });
  });
});
