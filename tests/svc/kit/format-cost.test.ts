import { expect } from 'chai';
import { formatCost } from '../../../plugins/svc/kit/format-cost.ts';

describe('the cost of calls', () => {
  it('is never $0 where prices are unknown', () => {
    expect(formatCost({ cost: 1_200_000, calls: 3, unpriced: 0 })).to.equal('$1.20');
    expect(formatCost({ cost: 0, calls: 2, unpriced: 0 })).to.equal('$0');
    expect(formatCost({ cost: 0, calls: 2, unpriced: 2 })).to.equal('Unknown price');
    expect(formatCost({ cost: 1_200_000, calls: 3, unpriced: 1 })).to.equal('$1.20, plus 1 call with an unknown price');
  });
});
