import { expect } from 'chai';
import { table, verdict } from './report.ts';

describe('the report of benchmarks', () => {
  it('says whether a target is met, in either direction, and nothing without one', () => {
    expect(verdict({ name: 'rate', value: 2, unit: 'x', target: { at: 'least', value: 1.8 } })).to.equal('met');
    expect(verdict({ name: 'rate', value: 1, unit: 'x', target: { at: 'least', value: 1.8 } })).to.equal('missed');
    expect(verdict({ name: 'start', value: 900, unit: 'ms', target: { at: 'most', value: 1000 } })).to.equal('met');
    expect(verdict({ name: 'start', value: 1001, unit: 'ms', target: { at: 'most', value: 1000 } })).to.equal('missed');
    expect(verdict({ name: 'start', value: Number.NaN, unit: 'ms', target: { at: 'most', value: 1000 } })).to.equal(
      'missed',
    );
    expect(verdict({ name: 'p50', value: 1, unit: 'ms' })).to.equal('');
  });

  it('prints columns of even width, and remarks below them', () => {
    expect(
      table([
        { name: 'rate', value: 12345.6, unit: 'requests/s' },
        {
          name: 'this over that',
          value: 2.345,
          unit: 'x',
          target: { at: 'least', value: 1.8 },
          note: 'the goal is 2.2 x',
        },
      ]),
    ).to.equal(
      [
        '                              value  target',
        '  rate            12,346 requests/s',
        '  this over that             2.35 x  at least 1.8 x  met',
        '  this over that: the goal is 2.2 x',
      ].join('\n'),
    );
  });
});
