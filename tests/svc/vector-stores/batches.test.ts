import { expect } from 'chai';
import { splitBatches } from '../../../plugins/svc/vector-stores/batches.ts';

const records = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: String(index), values: [1], content: '', metadata: {} }));
const sizes = (count: number, limits: { readonly records: number; readonly bytes: number }, size = 99): number[] =>
  splitBatches(records(count), limits, () => size).map((batch) => batch.length);

describe('batches of vectors', () => {
  it('have as many records as a request may have, and not one more', () => {
    const limits = { records: 1_000, bytes: 1_000_000 };
    expect([999, 1_000, 1_001, 2_001].map((count) => sizes(count, limits))).to.deep.equal([
      [999],
      [1_000],
      [1_000, 1],
      [1_000, 1_000, 1],
    ]);
  });

  it('have as many bytes as a request may have, with 2,000 around the records', () => {
    expect(sizes(3, { records: 10, bytes: 2_200 })).to.deep.equal([2, 1]);
    expect(sizes(3, { records: 10, bytes: 2_199 })).to.deep.equal([1, 1, 1]);
  });

  it('keep the order, and send a record beyond the limit alone', () => {
    const batches = splitBatches(records(3), { records: 10, bytes: 2_100 }, () => 5_000);
    expect(batches.map((batch) => batch.map(({ id }) => id))).to.deep.equal([['0'], ['1'], ['2']]);
  });
});
