import { inGroups } from '#plugin-api';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';

describe('work in groups', () => {
  it('is done for all that gathered meanwhile at once, with a result for each', async () => {
    const groups: (readonly number[])[] = [];
    const double = inGroups(async (items: readonly number[]) => {
      groups.push(items);
      await setImmediate();
      return items.map((item) => 2 * item);
    });
    expect(await Promise.all([1, 2, 3].map(double))).to.deep.equal([2, 4, 6]);
    expect(await double(4)).to.equal(8);
    expect(groups).to.deep.equal([[1], [2, 3], [4]]);
    const many = Array.from({ length: 1_200 }, (_, index) => index);
    expect(await Promise.all(many.map(double))).to.deep.equal(many.map((item) => 2 * item));
    expect(Math.max(...groups.map(({ length }) => length))).to.equal(500);
  });

  it('fails for its group alone', async () => {
    const check = inGroups(async (items: readonly number[]) => {
      await setImmediate();
      if (items.includes(2)) throw new Error('Two.');
      return items;
    });
    const outcomes = await Promise.allSettled([1, 2, 3].map(check));
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'rejected']);
    expect(await check(3)).to.equal(3);
  });
});
