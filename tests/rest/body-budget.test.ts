import { expect } from 'chai';
import { createBodyBudget, freeBytes } from '../../host/rest/body-budget.ts';

const megabyte = 1_048_576;
const bytes = (megabytes: number): number => megabytes * megabyte + freeBytes;

describe('the memory for bodies of anonymous callers', () => {
  const open = (total = 64) => {
    const budget = createBodyBudget(total * megabyte);
    return { budget, from: (ip: string) => budget.open({ isAnonymous: true, ip }) };
  };

  it('is shared by networks: bodies of one of them have a quarter of it together', () => {
    const { from } = open();
    expect([from('192.0.2.1').reserve(bytes(3)), from('192.0.2.1').reserve(bytes(1))]).to.deep.equal([true, true]);
    expect(from('192.0.2.1').reserve(bytes(1))).to.equal(false);
    expect(from('192.0.2.2').reserve(bytes(4))).to.equal(true);
    const home = ['2001:db8:0:1::1', '2001:db8:0:1::2', '2001:db8:0:2::1'].map((ip) => from(ip).reserve(bytes(3)));
    expect(home).to.deep.equal([true, false, true]);
  });

  it('holds one body of any size of a network that has no other, and its share again afterwards', () => {
    const { budget, from } = open();
    const large = from('192.0.2.1');
    for (const megabytes of [2, 7, 13]) expect(large.reserve(bytes(megabytes))).to.equal(true);
    expect(from('192.0.2.1').reserve(bytes(1))).to.equal(false);
    expect(from('192.0.2.2').reserve(bytes(3))).to.equal(true);
    expect(from('192.0.2.3').reserve(bytes(1))).to.equal(false);
    large.release();
    expect(budget.held).to.equal(3 * megabyte);
    expect(from('192.0.2.1').reserve(bytes(4))).to.equal(true);
  });

  it('is not what known callers of the same network use', () => {
    const { budget, from } = open();
    expect(budget.open({ isAnonymous: false, ip: '192.0.2.1' }).reserve(bytes(30))).to.equal(true);
    expect(from('192.0.2.1').reserve(bytes(13))).to.equal(true);
  });
});
