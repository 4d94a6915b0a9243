import { validateHeaderValue } from 'node:http';
import { expect } from 'chai';
import fc from 'fast-check';
import { responseHeaders } from '../../../plugins/svc/kit/response-headers.ts';

describe('headers of a text response', () => {
  it('are set only when they apply', () => {
    expect(responseHeaders({ ignored: [], usageEstimated: false })).to.deep.equal({});
    expect(responseHeaders({ ignored: ['top_k', 'a', 'top_k'], usageEstimated: true })).to.deep.equal({
      'X-SVC-Ignored-Params': 'top_k, a',
      'X-SVC-Usage-Estimated': 'true',
    });
  });

  it('are valid for any parameter name, and have a limit', () => {
    const names = fc.array(
      fc.oneof(fc.string({ unit: 'binary', maxLength: 90 }), fc.string({ unit: 'binary-ascii' })),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(names, (ignored) => {
        const value =
          responseHeaders({ ignored: [...ignored, '\ud800\r\n'], usageEstimated: false })['X-SVC-Ignored-Params'] ?? '';
        validateHeaderValue('X-SVC-Ignored-Params', value);
        expect(value).to.match(/^[\w.[\]%, !'()*~-]*$/);
        expect(value.split(', ').length).to.be.at.most(50);
      }),
    );
  });

  it('stay below the limit of clients', () => {
    const ignored = Array.from({ length: 500 }, (_, index) => `${index}${'ключ'.repeat(100)}`);
    const value = responseHeaders({ ignored, usageEstimated: false })['X-SVC-Ignored-Params'] ?? '';
    expect(value.length).to.be.below(4096);
  });
});
