import { expect } from 'chai';
import { lazy, lazyValue } from '#plugin-api';
import { failureOf } from '../helpers/failure-of.ts';

describe('a function that is loaded when it is first called', () => {
  it('loads once for all calls, those at the same time too', async () => {
    let loads = 0;
    const double = lazy(async () => {
      loads += 1;
      await Promise.resolve();
      return (value: number) => value * 2;
    });
    expect(loads).to.equal(0);
    expect(await Promise.all([double(1), double(2)])).to.deep.equal([2, 4]);
    expect(await double(3)).to.equal(6);
    expect(loads).to.equal(1);
  });

  it('tries again after a load that failed, not after a call that failed', async () => {
    let loads = 0;
    const work = lazy(async () => {
      loads += 1;
      if (loads === 1) throw new Error('no such file');
      return async (fails: boolean) => {
        if (fails) throw new Error('no such bot');
        return 'done';
      };
    });
    const failures = await Promise.all([failureOf(work(false)), failureOf(work(false))]);
    expect(failures.map(String)).to.deep.equal(['Error: no such file', 'Error: no such file']);
    expect(String(await failureOf(work(true)))).to.equal('Error: no such bot');
    expect(await work(false)).to.equal('done');
    expect(loads).to.equal(2);
  });

  it('keeps a value once it is loaded', async () => {
    let loads = 0;
    const plans = lazyValue(async () => {
      loads += 1;
      if (loads === 1) throw new Error('no such file');
      return Promise.resolve(['small', 'large']);
    });
    expect(String(await failureOf(plans()))).to.equal('Error: no such file');
    expect(await plans()).to.equal(await plans());
    expect(loads).to.equal(2);
  });
});
