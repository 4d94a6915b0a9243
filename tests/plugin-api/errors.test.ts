import { expect } from 'chai';
import { defineErrors } from '#plugin-api';

const errors = defineErrors('rest_shop_', {
  sold_out: [409, '{item} is sold out. It returns {when}.'],
  closed: [503, 'The shop is closed.'],
});

describe('catalogues of errors', () => {
  it('fill in their sentences, and need a value for each placeholder', () => {
    const { code, status, message } = errors.sold_out({ values: { item: 'Tea', when: 'in 1 minute' } });
    expect([code, status, message]).to.deep.equal([
      'rest_shop_sold_out',
      409,
      'Tea is sold out. It returns in 1 minute.',
    ]);
    // @ts-expect-error -- `when` has no value: the sentence would have its name.
    expect(errors.sold_out({ values: { item: 'Tea', wait: 'in 1 minute' } }).message).to.contain('{when}');
    expect(errors.closed().message).to.equal('The shop is closed.');
  });
});
