import { expect } from 'chai';
import { describeHosts } from '../helpers/dialects.ts';
import { automationsKills } from './automations-kills.ts';

/** `node tests/faults/automations-main.ts 1000 10` works on 1,000 items with 10 kills. */
const items = 60;
const kills = 2;

describeHosts('nodes that are killed while they work on automations', ({ location }) => {
  it('finish every item once, with its event and its cost', async function () {
    this.timeout(240_000);
    const report = await automationsKills({ location: location(), items, kills, hurried: true });
    expect(report).to.deep.include({ items, kills, unfinished: 0, wrong: 0, wrongEvents: 0, unpaid: 0 });
    expect(report.completed + report.failed).to.equal(items);
    expect(report.costOfItems).to.equal(report.costOfLedger).and.to.be.greaterThan(0);
  });
});
