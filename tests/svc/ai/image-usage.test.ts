import { expect } from 'chai';
import { sumUsage } from '../../../plugins/svc/ai/generate-images.ts';

describe('The usage of several calls', () => {
  it('is null where none reported any, and that of one where one did', () => {
    expect(sumUsage([])).to.equal(null);
    expect(sumUsage([null, null])).to.equal(null);
    expect(sumUsage([null, { total_tokens: 3 }, null])).to.deep.equal({ total_tokens: 3 });
  });

  it('adds numbers up, member by member, and keeps the rest', () => {
    const sum = sumUsage([
      { total: 1, details: { text: 1 }, tier: 'default' },
      { total: 2, details: { text: 3, image: 4 }, tier: 'other', cost: 5 },
    ]);
    expect(sum).to.deep.equal({ total: 3, details: { text: 4, image: 4 }, tier: 'default', cost: 5 });
  });

  it('leaves what it was given as it was', () => {
    const first = { total: 1, details: { text: 1 } };
    sumUsage([first, first]);
    expect(first).to.deep.equal({ total: 1, details: { text: 1 } });
  });
});
