import { validateHeaderValue } from 'node:http';
import { expect } from 'chai';
import fc from 'fast-check';
import { answerHeaders } from '../../../plugins/svc/kit/answer-headers.ts';

describe('headers of a text answer', () => {
  it('are there only when they apply', () => {
    expect(answerHeaders({ ignored: [], usageEstimated: false })).to.deep.equal({});
    expect(answerHeaders({ ignored: ['top_k', 'a', 'top_k'], usageEstimated: true })).to.deep.equal({
      'X-SVC-Ignored-Params': 'top_k, a',
      'X-SVC-Usage-Estimated': 'true',
    });
  });

  it('can be sent whatever a caller names a key, and never grow beyond bounds', () => {
    const names = fc.array(
      fc.oneof(fc.string({ unit: 'binary', maxLength: 90 }), fc.string({ unit: 'binary-ascii' })),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(names, (ignored) => {
        const value =
          answerHeaders({ ignored: [...ignored, '\ud800\r\n'], usageEstimated: false })['X-SVC-Ignored-Params'] ?? '';
        validateHeaderValue('X-SVC-Ignored-Params', value);
        expect(value).to.match(/^[\w.[\]%, !'()*~-]*$/);
        expect(value.split(', ').length).to.be.at.most(50);
      }),
    );
  });

  it('stay below what clients read', () => {
    const ignored = Array.from({ length: 500 }, (_, index) => `${index}${'ключ'.repeat(100)}`);
    const value = answerHeaders({ ignored, usageEstimated: false })['X-SVC-Ignored-Params'] ?? '';
    expect(value.length).to.be.below(4096);
  });
});
