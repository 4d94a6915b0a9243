import { expect } from 'chai';
import { parseQuery } from '../../host/rest/php-query.ts';

describe('queries and forms', () => {
  const cases: readonly [text: string, params: unknown][] = [
    ['', {}],
    ['a=1&b=2', { a: '1', b: '2' }],
    ['a', { a: '' }],
    ['a=', { a: '' }],
    ['=1&&a=1', { a: '1' }],
    ['a=b=c', { a: 'b=c' }],
    ['a=1&a=2', { a: '2' }],
    ['a=x+y%20z', { a: 'x y z' }],
    ['a.b=1&c d=2&%20e=3', { a_b: '1', c_d: '2', e: '3' }],
    ['a[]=1&a[]=2', { a: ['1', '2'] }],
    ['a%5B%5D=1', { a: ['1'] }],
    ['a[b]=1&a[c][]=2', { a: { b: '1', c: ['2'] } }],
    ['a[1]=x&a[0]=y', { a: { 0: 'y', 1: 'x' } }],
    ['a[5]=x&a[]=y', { a: { 5: 'x', 6: 'y' } }],
    ['a[]=1&a[b]=2', { a: { 0: '1', b: '2' } }],
    ['a=1&a[b]=2', { a: { b: '2' } }],
    ['a[b]=1&a=2', { a: '2' }],
    ['a[b=1', { a_b: '1' }],
    ['a[b]c=1', { a: { b: '1' } }],
    ['[a]=1', {}],
    ['a=%zz%2', { a: '%zz%2' }],
    ['a=%C3%A9', { a: 'é' }],
    ['constructor=1&toString[x]=2', { constructor: '1', toString: { x: '2' } }],
  ];
  for (const [text, params] of cases) {
    it(`'${text}' is read as PHP does`, () => {
      expect(parseQuery(text)).to.deep.equal({ params, error: null });
    });
  }

  const refused: readonly [text: string, sentence: RegExp][] = [
    ['a=%ff', /UTF-8/],
    ['a=%00', /NUL/],
    ['%00=a', /NUL/],
    ['__proto__=1', /not a valid parameter name/],
    ['__proto__[a]=1', /not a valid parameter name/],
    ['a[__proto__][b]=1', /not a valid parameter name/],
    [`a${'[b]'.repeat(64)}=1`, /not a valid parameter name/],
    [Array.from({ length: 1001 }, (_, index) => `a${index}=1`).join('&'), /more than 1000/],
  ];
  for (const [text, sentence] of refused) {
    it(`'${text.slice(0, 30)}' is refused`, () => {
      const { params, error } = parseQuery(text);
      expect(error?.message).to.match(sentence);
      expect(Object.getPrototypeOf(params)).to.equal(Object.prototype);
      expect(({} as Record<string, unknown>)['b']).to.equal(undefined);
    });
  }

  it('with a name of 2,000 characters are read, and with a longer one refused, with a hint for JSON', () => {
    expect(parseQuery(`${'a'.repeat(2_000)}=1`).error).to.equal(null);
    expect(parseQuery(`b=1&${'a'.repeat(2_001)}=1`)).to.deep.equal({
      params: { b: '1' },
      error: { name: 'a'.repeat(100), message: 'A parameter’s name has more than 2,000 characters.' },
    });
    expect(parseQuery(`{"a":"${'x'.repeat(3_000)}"}`).error?.message).to.match(/Content-Type: application\/json\.$/);
    // Twelve million brackets took five seconds.
    expect(parseQuery(`a${'['.repeat(1_000_000)}`).error?.name).to.have.lengthOf(100);
  });
});
