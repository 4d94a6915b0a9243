import { expect } from 'chai';
import { readAiParams } from '../../../../plugins/svc/modules/text/ai-params.ts';

describe('the keys of ai_params', () => {
  it('are sorted into known and ignored ones', () => {
    expect(readAiParams({ temperature: 1, logit_bias: {}, top_k: 3 })).to.deep.equal({
      params: { temperature: 1, top_k: 3 },
      ignored: ['logit_bias'],
    });
  });

  it('may say max_tokens, which yields to max_completion_tokens', () => {
    expect(readAiParams({ max_tokens: 7 })).to.deep.equal({ params: { max_completion_tokens: 7 }, ignored: [] });
    expect(readAiParams({ max_tokens: 7, max_completion_tokens: 9 })).to.deep.equal({
      params: { max_completion_tokens: 9 },
      ignored: ['max_tokens'],
    });
  });

  it('may be left out', () => {
    expect(readAiParams()).to.deep.equal({ params: {}, ignored: [] });
    expect(readAiParams({})).to.deep.equal({ params: {}, ignored: [] });
  });

  it('are no list, whether it comes as one or with its places as keys', () => {
    expect(() => readAiParams({ 0: 'a', 1: 'b' })).to.throw('Invalid parameter(s): ai_params');
    expect(() => readAiParams(['a'] as unknown as Record<string, unknown>)).to.throw('Invalid parameter(s): ai_params');
  });

  it('of prototypes are ignored like any other', () => {
    const given = JSON.parse('{"__proto__":{"a":1},"constructor":1}') as Record<string, unknown>;
    const { params, ignored } = readAiParams(given);
    expect(ignored).to.deep.equal(['__proto__', 'constructor']);
    expect(Object.keys(params)).to.deep.equal([]);
    expect((params as Record<string, unknown>)['a']).to.equal(undefined);
  });
});
